import { timeOfId } from '../../schema/time.ts';
import type { Partition } from './read-partitions.ts';

/** A partition is dropped so soon after all of it has expired, unless something keeps it. */
export const DROPPED_WITHIN_DAYS = 1;

/**
 * SQL: ids below this bound are not deleted one by one, because their partition will be dropped; empty: there are none.
 * @param table the first one of those with the same partitions
 */
export const droppedBelow = (table: string): string =>
  `coalesce((select dropped_below from partitioned_tables where name = '${table}'), '')`;

/**
 * Where the newest partition ends that gets no new rows and whose first rows have expired: within its own days, the others will have
 * too. Rows that expired before those days were deleted one by one.
 */
export function endOfDropped(partitions: Partition[], nowMs: number, retentionMs: number): string {
  const ending = partitions.findLast(
    ({ from, to }) => from && timeOfId(to) < nowMs && timeOfId(from) + retentionMs < nowMs,
  );
  return ending?.to ?? '';
}
