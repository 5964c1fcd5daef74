import { InvalidArgumentError } from 'commander';
import { DAY_MS, HOUR_MS } from '../../platform/schema/time.ts';

/** A whole number of at most 15 digits. Its range is checked later. */
export function wholeNumber(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

export function number(text: string): number {
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text)) throw new InvalidArgumentError('It must be a number.');
  return Number(text);
}

/** Splits `a,b` or `a b` into its items. */
export function list(text: string): string[] {
  return text.split(/[\s,]+/).filter((item) => item !== '');
}

/** Adds one `key=value` to the pairs of earlier options. */
export function pair(text: string, others: Record<string, string> = {}): Record<string, string> {
  const [key = '', ...value] = text.split('=');
  return { ...others, [key]: value.join('=') };
}

/** Unix seconds of `30d` or `12h` from now, or of a date such as 2027-01-31 or 2027-01-31T12:00:00Z. */
export function moment(text: string): number {
  const [, amount, unit] = /^([0-9]{1,6})([dh])$/.exec(text) ?? [];
  const ms = amount === undefined ? Date.parse(text) : Date.now() + Number(amount) * (unit === 'd' ? DAY_MS : HOUR_MS);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('It must be a date, or a time from now such as 30d or 12h.');
  return Math.floor(ms / 1000);
}

/** Unix seconds of `30d` or `12h` ago, or of a date. */
export function past(text: string): number {
  const [, amount, unit] = /^([0-9]{1,6})([dh])$/.exec(text) ?? [];
  if (amount === undefined) return moment(text);
  return Math.floor((Date.now() - Number(amount) * (unit === 'd' ? DAY_MS : HOUR_MS)) / 1000);
}

/** The value of an option that was given as `none`. Not null, which Commander would turn into an empty text. */
export const NONE = Symbol('none');

/** Reads the word `none` as NONE, and parses every other value. */
export function orNone<Value>(parse: (text: string) => Value): (text: string) => Value | typeof NONE {
  return (text) => (text === 'none' ? NONE : parse(text));
}

/** Turns NONE into null, for the inputs of the API. */
export const noneAsNull = <Value>(value: Value): Exclude<Value, typeof NONE> | null =>
  value === NONE ? null : (value as Exclude<Value, typeof NONE>);
