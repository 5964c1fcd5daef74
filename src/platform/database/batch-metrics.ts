import { SIZE_BUCKETS, STATEMENT_BUCKETS } from '../observe/measuring/buckets.ts';
import { histogram } from '../observe/measuring/declare.ts';
import type { Metrics } from '../observe/measuring/metrics.ts';

const items = histogram('darkroom_batch_items', 'Items of one flush of a batch.', SIZE_BUCKETS, ['batch']);

const waitSeconds = histogram(
  'darkroom_batch_wait_seconds',
  'Time for which the first item of a flush waited for it.',
  STATEMENT_BUCKETS,
  ['batch'],
);

/** What the batches of one name have in common. */
export interface BatchLoad {
  readonly batch: string;
  /** Items that wait for a flush. */
  waiting: number;
}

const loads = new Map<string, BatchLoad>();

/** @param batch a constant of the program: `tasks.create` */
export function batchLoad(batch: string): BatchLoad {
  const load = loads.get(batch) ?? { batch, waiting: 0 };
  loads.set(batch, load);
  return load;
}

/** @param sinceMs when the first item came, on the monotonic clock */
export function flushed({ batch }: BatchLoad, count: number, sinceMs: number): void {
  items.observe({ batch }, count);
  waitSeconds.observe({ batch }, (performance.now() - sinceMs) / 1000);
}

export function registerBatchMetrics(metrics: Metrics): void {
  metrics.gauges('darkroom_batch_waiting', 'Items that wait for a flush of their batch.', ['batch'], (set) => {
    for (const { batch, waiting } of loads.values()) set({ batch }, waiting);
  });
}
