export const HOUR_S = 3_600;
export const DAY_S = 24 * HOUR_S;
export const YEAR_S = 365 * DAY_S;
export const HOUR_MS = HOUR_S * 1_000;
export const DAY_MS = DAY_S * 1_000;

/** The end of the year 9999, in unix seconds: the latest time that a request may name. */
export const MAX_UNIX_S = 253_402_300_799;

/** Whole seconds since 1970, the unit of times in the API. */
export const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1_000);

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** How many characters after the prefix of a TypeID are its time. */
export const TIME_DIGITS = 10;
const LAST_MS = 2 ** 48 - 1;

/**
 * A bound that sorts below every id of this millisecond or later, and above every earlier id.
 * @param ms since 1970; clamped to the times that an id can have
 * @param prefix of the ids
 */
export function idBoundAt(ms: number, prefix = 'task'): string {
  let rest = Math.min(Math.max(ms, 0), LAST_MS);
  let time = '';
  for (let digit = 0; digit < TIME_DIGITS; digit += 1) {
    time = DIGITS[rest % 32] + time;
    rest = Math.floor(rest / 32);
  }
  return `${prefix}_${time}`;
}

/**
 * The time in an id, or in a bound of ids.
 * @returns milliseconds since 1970
 */
export function timeOfId(id: string): number {
  const start = id.lastIndexOf('_') + 1;
  let ms = 0;
  for (const digit of id.slice(start, start + TIME_DIGITS)) ms = ms * 32 + DIGITS.indexOf(digit);
  return ms;
}
