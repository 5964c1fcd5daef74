import { plural } from '../../format/numbers.ts';
import type { Batch } from './batches.documents.ts';

export const isEnded = ({ status }: Pick<Batch, 'status'>): boolean => status === 'COMPLETED' || status === 'CANCELLED';

const ORDER: readonly Batch['status'][] = ['IN_PROGRESS', 'CANCELLING', 'COMPLETED', 'CANCELLED'];

/**
 * The newer of two states, because reads and live events may arrive in either order. Items leave the queue and become
 * final, never the reverse, and the statuses of a batch have an order too. So the counts or the status tell which state
 * is older.
 * @returns `state`, unless `other` is newer
 */
export function newerOf(state: Batch, other: Batch): Batch {
  const [{ counts: mine }, { counts: its }] = [state, other];
  const isOlder =
    mine.queued > its.queued ||
    mine.queued + mine.running > its.queued + its.running ||
    ORDER.indexOf(state.status) < ORDER.indexOf(other.status);
  return isOlder ? other : state;
}

/** The name of the batch, which its creator set as `name` in the metadata; null: none. */
export function nameOf({ metadata }: Batch): string | null {
  const { name } = metadata as Record<string, string | undefined>;
  return name?.trim() || null;
}

const WORDS: Record<Batch['status'], string> = {
  IN_PROGRESS: 'In progress',
  CANCELLING: 'Cancelling',
  COMPLETED: 'Completed',
  CANCELLED: 'Cancelled',
};

export const statusOf = ({ status }: Pick<Batch, 'status'>): string => WORDS[status];

/** How many items have which state, the final states first. */
export function countWords({ counts, requestCounts }: Batch): string {
  const { queued, running, succeeded, failed, cancelled, invalid } = counts;
  const parts = [`${succeeded} of ${plural(requestCounts.total, 'item')} succeeded`];
  if (failed > 0) parts.push(`${failed} failed`);
  if (cancelled > 0) parts.push(`${cancelled} cancelled`);
  if (invalid > 0) parts.push(`${invalid} invalid`);
  if (running > 0) parts.push(`${running} running`);
  if (queued > 0) parts.push(`${queued} queued`);
  return parts.join(', ');
}
