export const HOUR_S = 3_600;
export const DAY_S = 24 * HOUR_S;
export const YEAR_S = 365 * DAY_S;
export const HOUR_MS = HOUR_S * 1_000;
export const DAY_MS = DAY_S * 1_000;

/** The end of the year 9999, in unix seconds: the latest time that a request may name. */
export const MAX_UNIX_S = 253_402_300_799;

/** Whole seconds since 1970, the unit of every time in the API. */
export const unixSeconds = (date: Date): number => Math.floor(date.getTime() / 1_000);
