import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { CancelTask, DeleteTask, RetryTask } from '../../live/task-actions.documents.ts';
import { KeepTask, UnkeepTask } from '../../live/stars.documents.ts';
import { dropTask, putTasks } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { report } from '../../parts/toasts.ts';

interface After {
  onOpenTask(taskId: string): void;
  onDeleted(): void;
}

/** The actions on a task. Only one runs at a time. */
export function useTaskActions(taskId: string, { onOpenTask, onDeleted }: After) {
  const [busy, setBusy] = useState<'cancel' | 'again' | 'keep' | 'remove' | null>(null);

  async function act(name: NonNullable<typeof busy>, work: () => Promise<void>): Promise<void> {
    if (busy) return;
    setBusy(name);
    await work().catch((error: unknown) => report(asCallError(error).message, true));
    setBusy(null);
  }

  return {
    busy,
    cancel: () =>
      act('cancel', async () => {
        const { cancelTask } = await mutate(CancelTask, { taskId });
        putTasks([toRow(cancelTask)]);
      }),
    again: () =>
      act('again', async () => {
        const { retryTask } = await mutate(RetryTask, { taskId, key: null });
        putTasks([toRow(retryTask)]);
        onOpenTask(retryTask.taskId);
      }),
    keep: (isKept: boolean) =>
      act('keep', async () => {
        const row = isKept
          ? (await mutate(KeepTask, { taskId, collection: null })).keepTask
          : (await mutate(UnkeepTask, { taskId })).unkeepTask;
        putTasks([toRow(row)]);
        report(isKept ? 'The task is kept with its files.' : 'The task is given up: time deletes it again.');
      }),
    remove: () =>
      act('remove', async () => {
        await mutate(DeleteTask, { taskId });
        dropTask(taskId);
        report('The task and its files are deleted.');
        onDeleted();
      }),
  };
}
