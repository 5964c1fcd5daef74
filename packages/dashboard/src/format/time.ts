import { look } from '../look/theme.ts';

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/**
 * `0.9 s`, `14 s`, `3 min 20 s`, `1 h 5 min`, `2 d 3 h`. Many durations are known only in whole seconds. Therefore a
 * whole number gets no decimals, and 0 is `under 1 s`.
 */
export function duration(seconds: number): string {
  if (Number.isInteger(seconds) && seconds < MINUTE) return seconds < 1 ? 'under 1 s' : `${seconds} s`;
  if (seconds < 0.05) return 'under 0.1 s';
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < MINUTE) return `${Math.round(seconds)} s`;
  if (seconds < HOUR) return pair(seconds, [MINUTE, 'min'], [1, 's']);
  if (seconds < DAY) return pair(seconds, [HOUR, 'h'], [MINUTE, 'min']);
  return pair(seconds, [DAY, 'd'], [HOUR, 'h']);
}

type Unit = [seconds: number, name: string];

function pair(seconds: number, [large, largeName]: Unit, [small, smallName]: Unit): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)} ${largeName}${rest > 0 ? ` ${rest} ${smallName}` : ''}`;
}

/** `just now`, `30 s ago`, `4 min ago`, `2 h ago`, `yesterday`, `3 days ago`; from 7 days on the date. */
export function ago(at: number, now: number): string {
  const age = now - at;
  if (age < 5) return 'just now';
  if (age < MINUTE) return `${Math.floor(age)} s ago`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 2 * DAY) return 'yesterday';
  if (age < 7 * DAY) return `${Math.floor(age / DAY)} days ago`;
  return day(at);
}

/** The last second of the year 9999, the latest time that the service accepts. */
const LAST_S = 253_402_300_799;

/**
 * The unix seconds in a parameter of an address; null: the text is no number above 0, or the time is after the year
 * 9999.
 */
export function unixOf(text: string | undefined): number | null {
  const at = Number(text);
  return at > 0 && at <= LAST_S ? at : null;
}

type Style = 'day' | 'moment' | 'clock';
const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
const STYLES: Record<Style, Intl.DateTimeFormatOptions> = {
  day: { dateStyle: 'medium' },
  moment: { year: 'numeric', month: 'short', day: 'numeric', ...CLOCK, timeZoneName: 'short' },
  clock: { ...CLOCK, hour12: false },
};

/** Formatters by style and time zone. Creating one takes longer than everything else in a row of a list. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** The time zone of the settings, such as `Europe/Berlin`. */
export const zoneName = (): string =>
  look().clock === 'utc' ? 'UTC' : Intl.DateTimeFormat().resolvedOptions().timeZone;

function format(style: Style, at: number): string {
  const timeZone = look().clock === 'utc' ? 'UTC' : undefined;
  const key = `${style} ${timeZone}`;
  const known = formats.get(key) ?? new Intl.DateTimeFormat(undefined, { ...STYLES[style], timeZone });
  formats.set(key, known);
  return known.format(at * 1_000);
}

/** `29 Nov 2026`, in the language of the browser and the time zone of the settings. */
export const day = (at: number): string => format('day', at);

/** `2026-11-29`, as a date field takes it, in the time zone of the settings. */
export const dateOf = (at: number): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone: look().clock === 'utc' ? 'UTC' : undefined }).format(at * 1_000);

/** The unix seconds at which a day such as `2026-11-29` ends, in the time zone of the settings. */
export function endOfDay(date: string): number {
  if (look().clock === 'utc') return Date.parse(`${date}T00:00:00Z`) / 1_000 + DAY;
  const next = new Date(`${date}T00:00:00`);
  next.setDate(next.getDate() + 1); // not 24 hours: a day of the local time may have 23 or 25
  return next.getTime() / 1_000;
}

/** Date, time and time zone, to the second. */
export const moment = (at: number): string => format('moment', at);

/** `14:03:11` */
export const clockTime = (at: number): string => format('clock', at);

/** `14:03:11.204` */
export const clockTimeMs = (atMs: number): string =>
  `${clockTime(Math.floor(atMs / 1_000))}.${String(Math.floor(atMs % 1_000)).padStart(3, '0')}`;
