import { BATCH_STATUSES } from '../record/batch-status.ts';
import type { ShownBatch } from '../record/batch.entity.ts';

/** A text that changes whenever the status or a count of the batch changes. */
export function versionOf({ status, queued, running, succeeded, failed, cancelled }: ShownBatch): string {
  return [status, queued, running, succeeded, failed, cancelled].join('-');
}

/**
 * Whether `batch` is a later state than `than`. Two reads may answer in the wrong order. The counts tell which state is
 * later, because no item goes back to an earlier status.
 */
export function isNewer(batch: ShownBatch, than: ShownBatch): boolean {
  const isOlder =
    batch.queued > than.queued ||
    batch.queued + batch.running > than.queued + than.running ||
    BATCH_STATUSES.indexOf(batch.status) < BATCH_STATUSES.indexOf(than.status);
  return !isOlder && versionOf(batch) !== versionOf(than);
}
