/** Where the estimate comes to rest until the job has really ended. */
const REST = 95;

/**
 * Progress of a job whose upstream gives none: quick at first, then ever slower, never above 95.
 * @param elapsedMs since it began to run
 * @param typicalMs after which it stands at 60
 * @returns percent
 */
export function elapsedPercent(elapsedMs: number, typicalMs: number): number {
  return Math.floor(REST * (1 - Math.exp(-Math.max(0, elapsedMs) / typicalMs)));
}
