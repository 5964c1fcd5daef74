const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
/** The first characters of a TypeID after its prefix are its time. */
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
