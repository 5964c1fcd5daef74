import { mayRunAgain } from '../../api/error-words.ts';
import { mutate } from '../../api/client.ts';
import { RetryTask } from '../../live/task-actions.documents.ts';
import { isCancelled, putTasks, taskRow, type TaskNow } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import type { BatchItem } from './use-batch-items.ts';

/** Whether the task has failed and may succeed when it runs again. A cancelled item did not fail. */
const isFailure = (row: TaskNow): boolean => row?.status === 'FAILED' && !isCancelled(row) && mayRunAgain(row);

/** The items whose first and last run failed, each with an error after which another run may succeed. */
export const failedOf = (items: readonly BatchItem[]): BatchItem[] =>
  items.filter(
    ({ taskId, againId }) => isFailure(taskRow(taskId)) && (againId === null || isFailure(taskRow(againId))),
  );

/**
 * Runs each item again, one after the other. The idempotency key names the run that failed, so a second press, or a
 * press in another tab, starts no second task.
 * @param onSent called after each item
 */
export async function runFailedAgain(items: readonly BatchItem[], onSent: (sent: number) => void): Promise<void> {
  let sent = 0;
  for (const { taskId, againId } of items) {
    const { retryTask } = await mutate(RetryTask, { taskId, key: `again ${againId ?? taskId}` });
    putTasks([toRow(retryTask)]);
    onSent(++sent);
  }
}
