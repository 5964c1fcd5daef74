import type { Run } from '../contract/provider.ts';
import { elapsedPercent } from './elapsed-percent.ts';

const TICK_MS = 1_000;

/**
 * While `work` runs, reports a progress that is estimated from the elapsed time. For upstreams that report no progress.
 */
export async function withClockProgress<T>(run: Run, typicalMs: number, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  const timer = setInterval(() => run.progress(elapsedPercent(performance.now() - startedAt, typicalMs)), TICK_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
