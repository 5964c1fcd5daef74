import { applyDecorators } from '@nestjs/common';
import { getMetadataStorage, IsObject, ValidateBy } from 'class-validator';
import { ApiError } from '../../errors/api-error.ts';

const RULE = 'stringValues';
const ENTRY = /^(\w+)\[(.+)\]$/s;

/** A map from text to text. Any key is allowed, including `constructor` and `__proto__`. */
export function TextMap(): PropertyDecorator {
  return applyDecorators(
    IsObject(),
    ValidateBy(
      {
        name: RULE,
        validator: {
          validate: (value) => keyWithoutText(value) === undefined,
          defaultMessage: (args) =>
            `$property must have strings as values, but "${keyWithoutText(args?.value)?.slice(0, 64)}" has another type`,
        },
      },
      { context: { code: 'invalid_type' } },
    ),
  );
}

const keyWithoutText = (value: unknown): string | undefined =>
  Object.entries(value ?? {}).find(([, each]) => typeof each !== 'string')?.[0];

const mapsByClass = new WeakMap<object, ReadonlySet<string>>();

/** The names of the text maps of an input class. Cached, because class-validator searches the rules of all classes. */
export function textMapsOf(inputClass: new () => object): ReadonlySet<string> {
  let maps = mapsByClass.get(inputClass);
  if (!maps) {
    const rules = getMetadataStorage().getTargetValidationMetadatas(inputClass, '', false, false);
    maps = new Set(rules.filter(({ name }) => name === RULE).map(({ propertyName }) => propertyName));
    mapsByClass.set(inputClass, maps);
  }
  return maps;
}

/**
 * Gathers the entries of text maps in a query string: `metadata[a]=b` becomes `metadata: { a: 'b' }` (OpenAPI's style
 * deepObject). Also rejects text that PostgreSQL cannot store.
 * @throws ApiError invalid_unicode; invalid_type for an entry given twice; unknown_parameter for a map given as one
 *   text
 */
export function gatherTextMaps(query: Record<string, unknown>, maps: ReadonlySet<string>): Record<string, unknown> {
  const gathered: Record<string, unknown> = {};
  for (const [param, value] of Object.entries(query)) {
    const [, map = '', key = ''] = ENTRY.exec(param) ?? [];
    rejectBadText(param, value);
    if (maps.has(map)) {
      if (typeof value !== 'string') throw new ApiError('invalid_type', { param, message: `${param} is given twice.` });
      rejectBadText(param, key);
      defineOwn((gathered[map] ??= {}) as object, key, value);
    } else if (maps.has(param)) {
      throw new ApiError('unknown_parameter', { param, message: `Write ${param}[key]=value.` });
    } else defineOwn(gathered, param, value);
  }
  return gathered;
}

function rejectBadText(param: string, text: unknown): void {
  if (typeof text === 'string' && (text.includes('\0') || !text.isWellFormed())) {
    throw new ApiError('invalid_unicode', { param });
  }
}

/** Sets a property of any name. Assigning to `__proto__` would define no property: its value would pass unchecked. */
export function defineOwn(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}
