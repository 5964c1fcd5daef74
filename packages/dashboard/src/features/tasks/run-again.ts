import { mutate } from '../../api/client.ts';
import { plural } from '../../format/numbers.ts';
import { RetryTask } from '../../live/task-actions.documents.ts';
import { isFinal, putTasks, taskRow } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { report } from '../../parts/toasts.ts';

/**
 * Runs the selected tasks again, one after the other. Skips tasks that are unfinished or that the page does not know.
 */
export async function runAgain(taskIds: readonly string[]): Promise<void> {
  let sent = 0;
  for (const taskId of taskIds) {
    const row = taskRow(taskId);
    if (!row || !isFinal(row)) continue;
    const { retryTask } = await mutate(RetryTask, { taskId, key: null }).catch((error: unknown) => {
      report(`${plural(sent, 'task')} sent. ${error instanceof Error ? error.message : ''}`, true);
      throw error;
    });
    putTasks([toRow(retryTask)]);
    sent++;
  }
  report(`${plural(sent, 'task')} sent again.`);
}
