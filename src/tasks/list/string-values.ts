import { type ValidationArguments, ValidatorConstraint, type ValidatorConstraintInterface } from 'class-validator';

/** An object whose values are all strings. Whether it is an object is another rule's question. */
@ValidatorConstraint({ name: 'stringValues' })
export class StringValues implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return badKey(value) === undefined;
  }

  defaultMessage({ value }: ValidationArguments): string {
    return `$property must have strings as values, but "${badKey(value)?.slice(0, 64)}" has another type`;
  }
}

const badKey = (value: unknown): string | undefined =>
  Object.entries(value ?? {}).find(([, each]) => typeof each !== 'string')?.[0];
