import { DAY_MS } from '../../schema/time.ts';

/** How far ahead partitions are made, in days. */
const AHEAD_DAYS = 7;
/** The same in partitions. */
const AHEAD = 2;

export interface Range {
  fromMs: number;
  toMs: number;
}

/**
 * The partitions to make, each of some days of UTC. They fill gaps too: the clock of a database that was years ahead
 * for a while has left partitions there, and today has none.
 * @param existing in order
 * @param fromMs what is before needs none
 */
export function rangesAhead(existing: Range[], fromMs: number, nowMs: number, days: number): Range[] {
  const ranges: Range[] = [];
  const untilMs = nowMs + Math.max(AHEAD_DAYS, AHEAD * days) * DAY_MS;
  for (let startMs = coveredUntil(existing, fromMs); startMs < untilMs;) {
    const next = existing.find((range) => range.fromMs > startMs);
    const toMs = Math.min(startMs + days * DAY_MS, next?.fromMs ?? Infinity);
    ranges.push({ fromMs: startMs, toMs });
    startMs = coveredUntil(existing, toMs);
  }
  return ranges;
}

/**
 * @param existing in order
 * @returns where those that hold `fromMs` and the time after it end, without a gap; `fromMs` when none holds it
 */
export const coveredUntil = (existing: Range[], fromMs: number): number =>
  existing.reduce((ms, range) => (range.fromMs <= ms && ms < range.toMs ? range.toMs : ms), fromMs);

export const midnightBefore = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
