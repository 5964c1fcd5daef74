import { InvalidArgumentError } from 'commander';

/** A whole number; its range is judged by whoever takes it. */
export function wholeNumber(text: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError('Not a whole number.');
  return Number(text);
}

/** A number of zero or more. */
export function number(text: string): number {
  if (!/^[0-9]+(\.[0-9]+)?$/.test(text)) throw new InvalidArgumentError('Not a number.');
  return Number(text);
}

/** `a,b` or `a b`. */
export function list(text: string): string[] {
  return text.split(/[\s,]+/).filter((item) => item !== '');
}

/** `30d`, `12h`, or a date such as 2027-01-31 or 2027-01-31T12:00:00Z; answers unix seconds. */
export function moment(text: string): number {
  const [, amount, unit] = /^([0-9]{1,6})([dh])$/.exec(text) ?? [];
  const ms =
    amount === undefined ? Date.parse(text) : Date.now() + Number(amount) * (unit === 'd' ? 86_400_000 : 3_600_000);
  if (Number.isNaN(ms)) throw new InvalidArgumentError('Neither a date nor a time from now, such as 30d or 12h.');
  return Math.floor(ms / 1000);
}

/** `none` is null; everything else is parsed. */
export function orNone<Value>(parse: (text: string) => Value): (text: string) => Value | null {
  return (text) => (text === 'none' ? null : parse(text));
}
