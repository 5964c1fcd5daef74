import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  getMetadataStorage,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { ApiError } from '../../errors/api-error.ts';
import type { Choice } from './choice.ts';

type Class = new (...args: never[]) => object;
/** The type of the entries of a list. */
export type Item = (() => Class) | Choice | 'string' | 'integer' | 'number';

export interface Bounds {
  min?: number;
  max?: number;
}

/** Own messages, because some of class-validator's are clumsy ("All events's elements must be unique"). */
const AN_INTEGER = '$property must be an integer';
const A_NUMBER = '$property must be a number';
const oneOf = ({ values }: Choice): string => `$property must be one of: ${values.join(', ')}`;
const PLURALS = { character: 'characters', entry: 'entries' };
const count = (n: number, noun: keyof typeof PLURALS): string => `${n} ${n === 1 ? noun : PLURALS[noun]}`;

/**
 * The class-validator rules of one kind of field. `platform/schema/input-fault.ts` turns a broken rule into an error
 * code.
 */
export const checks = {
  /** The pattern comes before the length, so that an empty text gets the message of the pattern. */
  string: ({ min, max, pattern }: Bounds & { pattern?: { regex: RegExp; message: string } }) => [
    IsString(),
    ...(pattern ? [Matches(pattern.regex, { message: pattern.message })] : []),
    ...(min === undefined
      ? []
      : [MinLength(min, { message: `$property must have at least ${count(min, 'character')}` })]),
    ...(max === undefined
      ? []
      : [MaxLength(max, { message: `$property must have at most ${count(max, 'character')}` })]),
  ],
  integer: ({ fromQuery, ...bounds }: Bounds & { fromQuery?: boolean }) => [
    ...(fromQuery ? [DigitsToNumber()] : []),
    IsInt({ message: AN_INTEGER }),
    ...range(bounds),
  ],
  number: (bounds: Bounds) => [IsNumber({}, { message: A_NUMBER }), ...range(bounds)],
  boolean: ({ fromQuery }: { fromQuery?: boolean }) => [
    ...(fromQuery ? [WordToBoolean()] : []),
    IsBoolean({ message: '$property must be true or false' }),
  ],
  oneOf: (choice: Choice) => [IsString(), IsIn(choice.values, { message: oneOf(choice) })],
  object: (type: () => Class) => [IsObject(), ValidateNested(), Type(type)],
  anyObject: () => [IsObject()],
  textMap: () => [IsObject(), textValues()],
  /** Without `max`, a list of choices has at most as many entries as the choice has values. */
  list: (
    item: Item,
    { min, max, unique, pattern }: Bounds & { unique?: boolean; pattern?: { regex: RegExp; message: string } },
  ) => {
    const most = max ?? (typeof item === 'object' ? item.values.length : undefined);
    return [
      IsArray(),
      ...(min === undefined
        ? []
        : [ArrayMinSize(min, { message: `$property must have at least ${count(min, 'entry')}` })]),
      ...(most === undefined
        ? []
        : [ArrayMaxSize(most, { message: `$property must have at most ${count(most, 'entry')}` })]),
      ...(unique ? [uniqueEntries()] : []),
      ...items(item),
      ...(pattern ? [Matches(pattern.regex, { each: true, message: pattern.message })] : []),
    ];
  },
};

/** A field that is left out passes. Unlike with class-validator's IsOptional, `null` does not pass. */
export const mayBeLeftOut = (): PropertyDecorator => ValidateIf((_input, value) => value !== undefined);

export const mayBeNull = (): PropertyDecorator => ValidateIf((_input, value) => value !== null);

function range({ min, max }: Bounds): PropertyDecorator[] {
  const text = min !== undefined && max !== undefined ? `from ${min} to ${max}` : undefined;
  const message = (one: string) => ({ message: `$property must be ${text ?? one}` });
  return [
    ...(min === undefined ? [] : [Min(min, message(`at least ${min}`))]),
    ...(max === undefined ? [] : [Max(max, message(`at most ${max}`))]),
  ];
}

function items(item: Item): PropertyDecorator[] {
  if (typeof item === 'function') return [ValidateNested({ each: true }), Type(item)];
  if (item === 'string') return [IsString({ each: true })];
  if (item === 'integer') return [IsInt({ each: true, message: AN_INTEGER })];
  if (item === 'number') return [IsNumber({}, { each: true, message: A_NUMBER })];
  return [IsIn(item.values, { each: true, message: oneOf(item) })];
}

/** Digits, perhaps after a minus: "1.5", "1e3", " 1" and "" stay texts, which the next rule refuses. */
const WHOLE_NUMBER = /^-?[0-9]{1,15}$/;

/** For query strings, where every value arrives as text. */
function DigitsToNumber(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : value,
  );
}

function WordToBoolean(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value));
}

/** Replaces the rule of class-validator, which compares each entry with all others, also in lists that are too long. */
const uniqueEntries = (): PropertyDecorator =>
  ValidateBy(
    {
      name: 'uniqueEntries',
      validator: { validate: (value) => Array.isArray(value) && new Set(value).size === value.length },
    },
    { message: '$property must not have the same entry twice' },
  );

const TEXT_VALUES = 'stringValues';
const ENTRY = /^(\w+)\[(.+)\]$/s;

/** The rule for a map from text to text. Any key is allowed, including `constructor` and `__proto__`. */
function textValues(): PropertyDecorator {
  return ValidateBy(
    {
      name: TEXT_VALUES,
      validator: {
        validate: (value) => keyWithoutText(value) === undefined,
        defaultMessage: (args) =>
          `$property must have strings as values, but "${keyWithoutText(args?.value)?.slice(0, 64)}" has another type`,
      },
    },
    { context: { code: 'invalid_type' } },
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
    maps = new Set(rules.filter(({ name }) => name === TEXT_VALUES).map(({ propertyName }) => propertyName));
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

/**
 * Sets a property of any name. Assigning to `__proto__` would define no property, and the value would pass unchecked.
 */
export function defineOwn(holder: object, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true });
}
