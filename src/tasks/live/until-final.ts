import type { ShownTask } from '../task.entity.ts';
import type { TaskFeed } from './task-feed.ts';
import { isFinal } from '../task-status.ts';

/** The longest a client may ask to be kept waiting; seconds. */
export const MAX_WAIT_S = 60;

/**
 * Waits for a task's end, woken by the feed.
 * @param read the task as it stands; asked once the watch is set, so that no end falls in between
 * @param changedFrom also return as soon as the sequence differs from this
 * @param gone aborts when the client has hung up
 */
export async function untilFinal(
  feed: TaskFeed,
  taskId: string,
  read: () => Promise<ShownTask>,
  seconds: number,
  { changedFrom, gone }: { changedFrom?: number | undefined; gone?: AbortSignal | undefined } = {},
): Promise<ShownTask> {
  const news = Promise.withResolvers<void>();
  const enough = (task: ShownTask) =>
    isFinal(task.status) || (changedFrom !== undefined && task.sequence !== changedFrom);
  const stop = feed.watch(taskId, (task) => {
    if (enough(task)) news.resolve();
  });
  const timer = setTimeout(news.resolve, seconds * 1000);
  gone?.addEventListener('abort', () => news.resolve(), { once: true });
  if (gone?.aborted) news.resolve(); // before the listener was there
  try {
    const present = await read();
    if (enough(present)) return present;
    await news.promise;
  } finally {
    stop();
    clearTimeout(timer);
  }
  return read();
}
