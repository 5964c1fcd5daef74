import { until } from './until.ts';

/**
 * Waits until all delays have been measured.
 * @param delays in milliseconds; the array may still grow
 * @returns the row of a report
 */
export async function summaryOf(delays: number[], count: number, patienceMs = 10_000): Promise<object> {
  await until(() => delays.length >= count, patienceMs);
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (share: number) => {
    const delay = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return Math.round((delay ?? Number.NaN) * 10) / 10;
  };
  return { arrived: sorted.length, of: count, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
