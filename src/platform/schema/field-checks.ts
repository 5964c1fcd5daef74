import { Transform, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
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
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import type { Choice } from './choice.ts';

type Class = new (...args: never[]) => object;
/** What a list may hold. */
export type Item = (() => Class) | Choice | 'string' | 'integer' | 'number';

export interface Bounds {
  min?: number;
  max?: number;
}

/** The class-validator rules of one kind of field. `platform/schema/input-fault.ts` turns a broken rule into an error code. */
export const checks = {
  /** The pattern comes before the length, so that an empty text gets the message of its pattern. */
  string: ({ min, max, pattern }: Bounds & { pattern?: { regex: RegExp; message: string } }) => [
    IsString(),
    ...(pattern ? [Matches(pattern.regex, { message: pattern.message })] : []),
    ...(min === undefined ? [] : [MinLength(min)]),
    ...(max === undefined ? [] : [MaxLength(max)]),
  ],
  integer: ({ fromQuery, unpublished, ...bounds }: Bounds & { fromQuery?: boolean; unpublished?: Bounds }) => [
    ...(fromQuery ? [DigitsToNumber()] : []),
    IsInt(),
    ...range({ ...bounds, ...unpublished }),
  ],
  number: (bounds: Bounds) => [IsNumber(), ...range(bounds)],
  boolean: () => [IsBoolean()],
  oneOf: (choice: Choice) => [IsString(), IsIn(choice.values)],
  object: (type: () => Class) => [IsObject(), ValidateNested(), Type(type)],
  anyObject: () => [IsObject()],
  /** A list of choices never needs more entries than the choice has values. */
  list: (item: Item, { min, max, unique }: Bounds & { unique?: boolean }) => {
    const most = max ?? (typeof item === 'object' ? item.values.length : undefined);
    return [
      IsArray(),
      ...(min === undefined ? [] : [ArrayMinSize(min)]),
      ...(most === undefined ? [] : [ArrayMaxSize(most)]),
      ...(unique ? [ArrayUnique()] : []),
      ...items(item),
    ];
  },
};

/** A field left out passes; `null` does not, unlike with class-validator's IsOptional. */
export const mayBeLeftOut = (): PropertyDecorator => ValidateIf((_input, value) => value !== undefined);

export const mayBeNull = (): PropertyDecorator => ValidateIf((_input, value) => value !== null);

function range({ min, max }: Bounds): PropertyDecorator[] {
  return [...(min === undefined ? [] : [Min(min)]), ...(max === undefined ? [] : [Max(max)])];
}

function items(item: Item): PropertyDecorator[] {
  if (typeof item === 'function') return [ValidateNested({ each: true }), Type(item)];
  if (item === 'string') return [IsString({ each: true })];
  if (item === 'integer') return [IsInt({ each: true })];
  if (item === 'number') return [IsNumber({}, { each: true })];
  return [IsIn(item.values, { each: true })];
}

/** Digits only: "1.5", "1e3", " 1" and "" stay texts and fail as such. */
const WHOLE_NUMBER = /^-?[0-9]{1,15}$/;

/** For query strings, where every value arrives as text. */
function DigitsToNumber(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : value,
  );
}
