import type { ArgumentMetadata, PipeTransform, Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import { ApiError } from '../../errors/api-error.ts';
import { faultOf, propertiesOf, unknownParameter } from '../schema/input-fault.ts';
import { requireJsonObject } from './strict-json.ts';
import { paramPath } from '../schema/param-path.ts';
import { gatherTextMaps, textMapsOf } from '../schema/field-checks.ts';

/** Parameter types that are not input classes. A handler that declares one of them checks the value itself. */
const UNCHECKED: ReadonlySet<unknown> = new Set([undefined, Object, String, Number, Boolean, Array, Date]);

/**
 * Classes that accept an empty input. Most polls have no query string, and validating an empty input takes some 20 µs.
 */
const EMPTY_IS_VALID = new WeakSet<Type<object>>();

/**
 * Validates bodies, query strings and GraphQL arguments against their input classes. Nest's own pipe coerces numbers in
 * paths and drops `__proto__` silently. This pipe coerces only fields that are declared with `fromQuery`, and drops
 * only null fields in GraphQL.
 */
export class InputPipe implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'custom' || UNCHECKED.has(metatype)) return value;
    if (data !== undefined && (value === undefined || value === null)) return value; // an omitted GraphQL argument, or null
    if (data !== undefined) return checkInput(metatype!, withoutNulls(value, metatype!));
    const isQuery = type === 'query';
    return checkInput(metatype!, isQuery ? queryOf(value as Record<string, unknown>, metatype!) : value);
  }
}

/**
 * Gathers text maps such as `metadata[team]=a`. For a parameter in the class's static list `repeatable`, joins all its
 * values with commas.
 * @throws ApiError invalid_type for another parameter of the class that is given twice
 */
function queryOf(query: Record<string, unknown>, metatype: Type<object>): Record<string, unknown> {
  const gathered = gatherTextMaps(query, textMapsOf(metatype));
  for (const name of (metatype as { repeatable?: readonly string[] }).repeatable ?? []) {
    const value = gathered[name];
    if (Array.isArray(value)) gathered[name] = value.join(',');
  }
  const repeated = Object.keys(gathered).find((name) => Array.isArray(gathered[name]));
  // A parameter that the class does not have is reported later, as unknown.
  if (repeated === undefined || !propertiesOf(metatype).has(repeated)) return gathered;
  throw new ApiError('invalid_type', { param: repeated, message: `${repeated} may be given only once.` });
}

/**
 * Removes fields that are null: in GraphQL, null for an optional field means that the field was not given. Fields in
 * the class's static list `takesNull` stay. The schema itself refuses null for required fields.
 */
function withoutNulls(argument: unknown, metatype: Type<object>): unknown {
  const fields = Object.entries(argument as object);
  if (!fields.some(([, field]) => field === null)) return argument;
  const kept = (metatype as { takesNull?: readonly string[] }).takesNull ?? [];
  return Object.fromEntries(fields.filter(([name, field]) => field !== null || kept.includes(name)));
}

/**
 * Applies the rules of a REST input class to values that are no parameter of a handler, such as the arguments of a
 * GraphQL field. null and undefined mean that a value was left out.
 */
export function checkArguments<Input extends object>(input: Type<Input>, values: object): Input {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return checkInput(input, Object.fromEntries(given));
}

/** Validates an input. Without a body the input is empty, unless the static `needsBody` of the class is true. */
export function checkInput<Input extends object>(metatype: Type<Input>, value: unknown): Input {
  const { needsBody = false } = metatype as { needsBody?: boolean };
  const plain = value === undefined && !needsBody ? {} : requireJsonObject(value);
  const isEmpty = Object.keys(plain).length === 0;
  if (isEmpty && EMPTY_IS_VALID.has(metatype)) return new metatype();
  const maps = textMapsOf(metatype);
  rejectBadKeys(plain, maps);
  const input = toInstance(metatype, plain, maps);
  const errors = validateSync(input, { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false });
  if (errors.length === 0) {
    if (isEmpty) EMPTY_IS_VALID.add(metatype);
    return input;
  }
  if (value === undefined) requireJsonObject(value); // without a body, report that and not the first missing field
  throw faultOf(errors);
}

/** Text maps bypass class-transformer, which drops the key `__proto__` and fails on `constructor`. */
function toInstance<Input extends object>(metatype: Type<Input>, plain: object, maps: ReadonlySet<string>): Input {
  const [textMaps, others] = [new Map<string, unknown>(), new Map<string, unknown>()];
  for (const [name, value] of Object.entries(plain)) (maps.has(name) ? textMaps : others).set(name, value);
  const input = plainToInstance(metatype, Object.fromEntries(others), { exposeUnsetFields: false });
  return Object.assign(input, Object.fromEntries(textMaps));
}

/**
 * Names that every object inherits, such as `__proto__` and `toString`: class-validator takes them for known fields.
 */
const SPECIAL_KEYS = Object.getOwnPropertyNames(Object.prototype);

/**
 * The most values of an input: fields of objects and entries of lists together. class-transformer compares each field
 * of an object with all others, and takes a microsecond for each entry.
 */
const MAX_VALUES = 5_000;

/**
 * Refuses `SPECIAL_KEYS`, and an input with more than `MAX_VALUES` values.
 * @param textMaps properties of `value` in which any key is allowed
 */
function rejectBadKeys(value: unknown, textMaps: ReadonlySet<string>): void {
  let values = 0;
  const entriesOf = (holder: object, path: (string | number)[]): [string, unknown][] => {
    const entries = Object.entries(holder);
    values += entries.length;
    if (values <= MAX_VALUES) return entries;
    const param = paramPath(path);
    throw new ApiError('too_many_items', {
      message: `An input has at most ${MAX_VALUES} fields and entries of lists.`,
      ...(param && { param }),
    });
  };
  const visit = (holder: unknown, path: (string | number)[], maps?: ReadonlySet<string>): void => {
    if (typeof holder !== 'object' || holder === null) return;
    const special = SPECIAL_KEYS.find((key) => Object.hasOwn(holder, key));
    if (special !== undefined) throw unknownParameter(paramPath([...path, special]));
    for (const [key, item] of entriesOf(holder, path)) {
      const at = [...path, Array.isArray(holder) ? Number(key) : key];
      if (!maps?.has(key)) visit(item, at);
      else if (typeof item === 'object' && item !== null) entriesOf(item, at);
    }
  };
  visit(value, [], textMaps);
}
