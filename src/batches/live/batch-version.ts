import { BATCH_STATUSES } from '../record/batch-status.ts';
import type { ShownBatch } from '../record/batch.entity.ts';

/** A text that changes with the status and the counts of the batch. */
export function versionOf({ status, queued, running, succeeded, failed, cancelled }: ShownBatch): string {
  return [status, queued, running, succeeded, failed, cancelled].join('-');
}

/**
 * Two reads may end in the wrong order. The counts tell which is newer, because no item goes back to an earlier state.
 */
export function isNewer(batch: ShownBatch, than: ShownBatch): boolean {
  const isOlder =
    batch.queued > than.queued ||
    batch.queued + batch.running > than.queued + than.running ||
    BATCH_STATUSES.indexOf(batch.status) < BATCH_STATUSES.indexOf(than.status);
  return !isOlder && versionOf(batch) !== versionOf(than);
}
