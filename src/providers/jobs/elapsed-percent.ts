/** The estimate approaches this value and never exceeds it. */
const MAX_PERCENT = 95;

/**
 * Estimates the progress of a job whose upstream reports none. The estimate rises fast at first, then ever slower.
 * @param elapsedMs time since the job started to run
 * @param typicalMs elapsed time at which the estimate is 60
 * @returns percent
 */
export function elapsedPercent(elapsedMs: number, typicalMs: number): number {
  return Math.floor(MAX_PERCENT * (1 - Math.exp(-Math.max(0, elapsedMs) / typicalMs)));
}
