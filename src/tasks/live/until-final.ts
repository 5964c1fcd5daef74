import { isFinal } from '../record/task-status.ts';
import type { ShownTask } from '../record/task.entity.ts';
import type { TaskFeed } from '../queue/task-feed.ts';

/** Longest wait that a client may request; seconds. */
export const MAX_WAIT_S = 60;

export interface WaitOptions {
  /** Longest wait. */
  seconds: number;
  /** Also return as soon as the sequence differs from this one. */
  changedFrom?: number | undefined;
  /** Aborts when the wait must end early: the client has disconnected, its key is refused, or the service stops. */
  over?: AbortSignal | undefined;
}

/**
 * Waits until a task is final. The feed brings the state that ends the wait, so it is not read again.
 * @param read reads the current task; called after the watch is set, so that no end is missed
 */
export async function untilFinal(
  feed: TaskFeed,
  taskId: string,
  read: () => Promise<ShownTask>,
  { seconds, changedFrom, over }: WaitOptions,
): Promise<ShownTask> {
  const done = Promise.withResolvers<ShownTask | null>();
  const isDone = (task: ShownTask) =>
    isFinal(task.status) || (changedFrom !== undefined && task.sequence !== changedFrom);
  const unwatch = feed.watch(taskId, (task) => {
    const isNewer = changedFrom !== undefined && task.sequence > changedFrom; // an event may be late
    if (isNewer || isFinal(task.status)) done.resolve(task);
  });
  const isOver = () => done.resolve(null);
  const timer = setTimeout(isOver, seconds * 1000);
  over?.addEventListener('abort', isOver, { once: true });
  if (over?.aborted) isOver();
  try {
    const current = await read();
    if (isDone(current)) return current;
    const brought = await done.promise;
    return brought ?? (await read());
  } finally {
    unwatch();
    clearTimeout(timer);
  }
}
