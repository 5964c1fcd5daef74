import { useEffect, useRef, useSyncExternalStore } from 'react';
import { run } from '../api/client.ts';
import { asCallError } from '../api/errors.ts';
import { graphql } from '../api/graphql.ts';
import { onSignIn, signIn } from '../api/session.ts';
import { connection, onConnection } from './connection.ts';
import { isFinal, onTask, putTasks, taskRow, type TaskRow } from './task-store.ts';
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

/** The pause between reads of the open task while the feed polls. */
const POLL_MS = 2_000;

/**
 * Reads a task again. If that fails, the row stays as it is.
 * @returns false: the service says that there is no such task
 */
export const readTask = (taskId: string): Promise<boolean> =>
  run(OneTask, { taskId }).then(
    ({ task }) => {
      putTasks([toRow(task)]);
      return true;
    },
    (error: unknown) => asCallError(error).code !== 'task_not_found',
  );

/** Reads the open task more often than the list is read, while the feed polls. */
export function usePolledTask(taskId: string): void {
  const isPolling = useSyncExternalStore(onConnection, () => connection().state === 'polling');
  useEffect(() => {
    if (!isPolling) return undefined;
    const timer = setInterval(() => {
      const row = taskRow(taskId);
      if (!document.hidden && !(row && isFinal(row))) void readTask(taskId);
    }, POLL_MS);
    return () => clearInterval(timer);
  }, [taskId, isPolling]);
}

/** A task from the feed; read once if the feed does not have it. */
export function useTask(taskId: string | null): TaskRow | undefined {
  const row = useSyncExternalStore(
    (listener) => (taskId ? onTask(taskId, listener) : () => undefined),
    () => (taskId ? taskRow(taskId) : undefined),
  );
  const isUnknown = taskId !== null && row === undefined;
  useEffect(() => {
    if (isUnknown) void readTask(taskId);
  }, [taskId, isUnknown]);
  return row;
}

interface TasksOptions {
  /** Whether to read tasks that the feed does not have. */
  reads?: boolean;
  /** Called for a task that does not exist (any more). */
  onGone?(taskId: string): void;
}

/** Several tasks in the order of the ids; undefined: not known yet. */
export function useTasks(
  taskIds: readonly (string | null)[],
  { reads = true, onGone }: TasksOptions = {},
): readonly (TaskRow | undefined)[] {
  const key = taskIds.join(' ');
  const known = useRef<readonly (TaskRow | undefined)[]>([]);
  const rows = useSyncExternalStore(
    (listener) => {
      const stops = taskIds.map((id) => (id ? onTask(id, listener) : () => undefined));
      return () => {
        for (const stop of stops) stop();
      };
    },
    () => {
      const now = taskIds.map((id) => (id ? taskRow(id) : undefined));
      const isSame = now.length === known.current.length && now.every((row, at) => row === known.current[at]);
      if (!isSame) known.current = now;
      return known.current;
    },
  );
  // While the session is lost, the cookie may be that of another key, for which these tasks do not exist.
  const isIn = useSyncExternalStore(onSignIn, isSignedIn);
  const unknown = reads && isIn ? taskIds.filter((id, at) => id && !rows[at]).join(' ') : '';
  useEffect(() => {
    for (const id of unknown.split(' ').filter(Boolean)) {
      void readTask(id).then((isThere) => isThere || !isSignedIn() || onGone?.(id));
    }
    // What is called does not change what is read.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [key, unknown]);
  return rows;
}

const isSignedIn = (): boolean => signIn().state === 'in';
