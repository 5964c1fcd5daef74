import { useEffect, useSyncExternalStore } from 'react';
import { run } from '../api/client.ts';
import { graphql } from '../api/graphql.ts';
import { onTask, putTasks, taskRow, type TaskRow } from './task-store.ts';
import { TaskRowFields, toRow } from './task.documents.ts';

const OneTask = graphql(
  `
    query OneTask($taskId: String!) {
      task(taskId: $taskId) {
        ...TaskRowFields
      }
    }
  `,
  [TaskRowFields],
);

/** A task as the feed knows it; read once if the feed does not. */
export function useTask(taskId: string | null): TaskRow | undefined {
  const row = useSyncExternalStore(
    (listener) => (taskId ? onTask(taskId, listener) : () => undefined),
    () => (taskId ? taskRow(taskId) : undefined),
  );
  const isUnknown = taskId !== null && row === undefined;
  useEffect(() => {
    if (!isUnknown) return;
    // A task that is gone stays unknown: the caller shows what it has.
    run(OneTask, { taskId }).then(
      ({ task }) => putTasks([toRow(task)]),
      () => undefined,
    );
  }, [taskId, isUnknown]);
  return row;
}
