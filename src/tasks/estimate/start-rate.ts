import { SAMPLE_S } from '../sql/record-pace.ts';
import type { StartsOf } from '../sql/read-pace.ts';

/** How far back starts are counted. */
export const RATE_WINDOW_S = 300;

/**
 * Tasks that start per second. Only the time for which a line has existed says how fast it moves: before, starts were
 * as rare as creations.
 * @param lineAgeS for how long the oldest waiting task has waited
 * @param nowS unix seconds, by the clock of the samples
 * @returns null without a start
 */
export function startRate(samples: readonly StartsOf[], lineAgeS: number, nowS: number): number | null {
  const windowS = Math.min(Math.max(lineAgeS, SAMPLE_S), RATE_WINDOW_S);
  const fromS = Math.floor((nowS - windowS) / SAMPLE_S) * SAMPLE_S;
  const started = samples.reduce((sum, sample) => sum + (sample.from_s >= fromS ? sample.started : 0), 0);
  return started === 0 ? null : started / (nowS - fromS);
}
