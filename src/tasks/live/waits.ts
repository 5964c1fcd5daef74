import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import type { TaskFeed } from '../queue/task-feed.ts';

/** Longest wait that a client may request; seconds. */
export const MAX_WAIT_S = 60;

export interface WaitOptions {
  /** The most seconds to wait. */
  seconds: number;
  /** The wait also ends as soon as the task has another sequence than this. */
  changedFrom?: number | undefined;
  /** Aborts when the wait must end early: the client has disconnected, its key is refused, or the service stops. */
  over?: AbortSignal | undefined;
}

/**
 * Waits until a task is final, or with `changedFrom` until it has changed. The feed delivers the state that ends the
 * wait. The task is read again only if no such state has come in time.
 * @param read reads the current task; called while the feed is already watched, so that no end is missed
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

/**
 * The most open waits of a key, in one process. A wait counts as one of the 10,000 requests that a process may have in
 * flight, so 50 keys are needed to use all of them. A key may run 50 tasks at the same time by default, so there are
 * four waits for each task.
 */
const MAX_WAITS_PER_KEY = 200;

/** A request that waits for the end of a task. */
interface OpenWait {
  /** Aborts when the request must be answered with the current state of its task. */
  over: AbortSignal;
  /** Call when the request stops waiting. */
  close(): void;
}

/**
 * The requests that wait for a task (`?wait`, `Prefer: wait`). They are limited per key, and answered at once when the
 * service stops.
 */
@Injectable()
export class OpenWaits implements BeforeApplicationShutdown {
  private readonly open = new Set<AbortController>();
  private readonly ofKey = new Map<string, number>();
  private isStopping = false;

  /**
   * @param gone aborts when the client has disconnected or its key is refused
   * @returns null if the request must not wait
   */
  start(apiKeyId: string, gone?: AbortSignal): OpenWait | null {
    const count = this.ofKey.get(apiKeyId) ?? 0;
    if (this.isStopping || count >= MAX_WAITS_PER_KEY) return null;
    const controller = new AbortController();
    gone?.addEventListener('abort', () => controller.abort(), { once: true });
    if (gone?.aborted) controller.abort();
    this.open.add(controller);
    this.ofKey.set(apiKeyId, count + 1);
    return { over: controller.signal, close: () => this.close(apiKeyId, controller) };
  }

  /**
   * Ends all waits and accepts no further ones. The waiting requests are answered with the current state of their
   * tasks.
   */
  endAll(): void {
    this.isStopping = true;
    for (const controller of this.open) controller.abort();
  }

  beforeApplicationShutdown(): void {
    this.endAll();
  }

  private close(apiKeyId: string, controller: AbortController): void {
    if (!this.open.delete(controller)) return;
    const count = (this.ofKey.get(apiKeyId) ?? 0) - 1;
    if (count > 0) this.ofKey.set(apiKeyId, count);
    else this.ofKey.delete(apiKeyId);
  }
}

/**
 * A signal that aborts when the client disconnects before its response is complete, so that the server stops waiting.
 */
export function hungUp(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
