import { counter } from './declare.ts';

/** What is deleted when its time has passed. */
export type Purged = 'files' | 'tasks' | 'events' | 'idempotency_keys';

export const PURGE_LAG = {
  name: 'darkroom_purge_lag_seconds',
  help: 'Seconds since the oldest thing that is still stored has expired. It rises while something cannot be deleted.',
  labels: ['what'] as const,
};

const purged = counter('darkroom_purged_total', 'What this process has deleted because its time had passed.', ['what']);
for (const what of ['files', 'tasks', 'events', 'idempotency_keys']) purged.inc({ what }, 0);

export function countPurged(what: Purged, count: number): void {
  if (count > 0) purged.inc({ what }, count);
}
