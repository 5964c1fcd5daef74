import { useEffect, useRef, useSyncExternalStore } from 'react';
import { run } from '../api/client.ts';
import { asCallError } from '../api/errors.ts';
import { graphql } from '../api/graphql.ts';
import { onSignIn, signIn } from '../api/session.ts';
import { connection, isAnswered, onConnection } from './connection.ts';
import {
  beginRound,
  dropTask,
  isFinal,
  isOld,
  noteRead,
  onRound,
  onTask,
  putTasks,
  roundNow,
  taskRow,
  type TaskNow,
} from './task-store.ts';
import { whileSeen } from './while-seen.ts';
import { NewestTasks, TaskRowFields, toRow } from './task.documents.ts';

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
 * Reads a task again. If that fails, the row stays as it is, unless the service says that there is no such task.
 */
export function readTask(taskId: string): Promise<void> {
  noteRead(taskId);
  return run(OneTask, { taskId }).then(
    ({ task }) => void putTasks([toRow(task)]),
    (error: unknown) => {
      // While the session is lost, the cookie may be that of another key, for which this task does not exist.
      if (asCallError(error).code === 'task_not_found' && signIn().state === 'in') dropTask(taskId);
      else noteRead(taskId, 0); // not answered, so it is read again after the next `beginRound`
    },
  );
}

/**
 * Reads the newest tasks. Older tasks that the page shows are then read one by one, because no event tells of a
 * deletion, nor of a star that was set elsewhere.
 */
async function readAgain(): Promise<void> {
  const newest = await run(NewestTasks, {}).catch(() => null);
  if (newest) beginRound(newest.tasks.edges.map(({ node }) => toRow(node)));
}

let wasKept = false;

/**
 * Reads the shown tasks again whenever the user comes back to the page, and whenever the service answers again, until
 * the returned function is called.
 */
export function keepTasksTrue(): () => void {
  if (wasKept) void readAgain(); // the session was lost, and something may have changed meanwhile
  wasKept = true;
  let wasAway = false;
  const stops = [
    whileSeen(() => void readAgain()),
    onConnection(() => {
      if (isAnswered() && wasAway) void readAgain();
      if (isAnswered()) wasAway = false;
      else if (['waiting', 'offline'].includes(connection().state)) wasAway = true;
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

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

/**
 * A task from the live feed. It is read if the feed does not have it. undefined: not known yet; null: there is no such
 * task (any more).
 */
export function useTask(taskId: string | null): TaskNow {
  const row = useSyncExternalStore(
    (listener) => (taskId ? onTask(taskId, listener) : () => undefined),
    () => (taskId ? taskRow(taskId) : undefined),
  );
  const round = useSyncExternalStore(onRound, roundNow);
  const isUnknown = taskId !== null && row === undefined;
  useEffect(() => {
    if (taskId && isOld(taskId)) void readTask(taskId);
  }, [taskId, isUnknown, round]);
  return row;
}

interface TasksOptions {
  /** Whether to read tasks that the feed does not have. */
  reads?: boolean;
}

/** Several tasks in the order of the ids. undefined: not known yet; null: there is no such task (any more). */
export function useTasks(taskIds: readonly (string | null)[], { reads = true }: TasksOptions = {}): readonly TaskNow[] {
  const key = taskIds.join(' ');
  const known = useRef<readonly TaskNow[]>([]);
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
  // While the session is lost, nothing can be read.
  const isIn = useSyncExternalStore(onSignIn, () => signIn().state === 'in');
  const round = useSyncExternalStore(onRound, roundNow);
  const unknown = reads && isIn ? taskIds.filter((id, at) => id && rows[at] === undefined).join(' ') : '';
  useEffect(() => {
    if (!reads || !isIn) return;
    for (const id of key.split(' ').filter(Boolean)) if (isOld(id)) void readTask(id);
  }, [key, unknown, round, reads, isIn]);
  return rows;
}
