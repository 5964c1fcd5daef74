import { Injectable } from '@nestjs/common';
import { MODELS } from '../../models/catalog.ts';
import { TaskFeed } from '../live/task-feed.ts';
import { UsualTimes } from '../pace/usual-times.ts';
import { TaskQueue } from '../queue/task-queue.ts';
import { WakeSignal } from '../queue/wake-signal.ts';
import { ReadTimelines } from '../sql/read-timelines.ts';
import { TakeLeases } from '../sql/take-leases.ts';
import { WatchTasks } from '../sql/watch-tasks.ts';
import { isTaskId } from '../task-id.ts';
import { type TaskErrorCode, taskError } from '../task-error.ts';
import { type TaskMomentView, toTimeline } from '../timeline/timeline.view.ts';
import type { Suspicion, TaskSelection, WatchedTask } from './watched-task.ts';

/** A run is suspicious after this multiple of the usual time of its model, and never before this number of seconds. */
const SUSPICIOUS_TIMES = 2;
const LEAST_SUSPICIOUS_S = 30;
/** Tasks that are changed at the same time. */
const AT_ONCE = 200;

/**
 * The tasks of all keys, for operators. Acts are guarded moves like any other: a task that ends at the same moment ends
 * once.
 */
@Injectable()
export class OperateTasks {
  constructor(
    private readonly rows: WatchTasks,
    private readonly leases: TakeLeases,
    private readonly timelines: ReadTimelines,
    private readonly times: UsualTimes,
    private readonly queue: TaskQueue,
    private readonly feed: TaskFeed,
    private readonly wakeSignal: WakeSignal,
  ) {}

  /** Unfinished tasks, oldest first. */
  async list(selection: TaskSelection, page: { after: string | null; limit: number }): Promise<WatchedTask[]> {
    return this.rows.list(selection, await this.suspicion(), page);
  }

  /** @returns null when there is no such task */
  async find(id: string): Promise<WatchedTask | null> {
    return isTaskId(id) ? ((await this.read([id]))[0] ?? null) : null;
  }

  /** In order of their ids. */
  async read(ids: string[]): Promise<WatchedTask[]> {
    return this.rows.read(ids, await this.suspicion());
  }

  /** What happened to a task, with its providers. @returns null when there is no such task */
  async timeline(id: string): Promise<TaskMomentView[] | null> {
    const row = isTaskId(id) ? await this.timelines.find(id) : null;
    return row && toTimeline(row, true);
  }

  /** Ends those that have not ended yet. @returns how many it has ended */
  async end(tasks: readonly Pick<WatchedTask, 'id' | 'api_key_id'>[], code: TaskErrorCode): Promise<number> {
    const outcome = { status: 'failed', error: taskError(code) } as const;
    let ended = 0;
    for (let from = 0; from < tasks.length; from += AT_ONCE) {
      const some = tasks.slice(from, from + AT_ONCE);
      const ends = await Promise.allSettled(
        some.map(({ id, api_key_id }) => this.queue.end({ id, api_key_id, attempt: null, outcome })),
      );
      // Only when all have settled, so that no change happens after the response.
      for (const end of ends) if (end.status === 'rejected') throw end.reason;
      ended += ends.filter((end) => end.status === 'fulfilled' && end.value !== null).length;
    }
    return ended;
  }

  /** Takes running tasks away from their workers; the next claim continues them. @returns how many were running */
  async release(ids: readonly string[]): Promise<number> {
    let released = 0;
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const taken = await this.leases.take(ids.slice(from, from + AT_ONCE));
      this.feed.publish(taken); // the worker stops at once
      released += taken.length;
    }
    if (released > 0) this.wakeSignal.notify();
    return released;
  }

  private async suspicion(): Promise<Suspicion> {
    const usual = await Promise.all(MODELS.map(async ({ id }) => ({ id, seconds: await this.times.ofModel(id) })));
    const known = usual.filter((each): each is { id: string; seconds: number } => each.seconds !== null);
    return {
      models: known.map(({ id }) => id),
      seconds: known.map(({ seconds }) => Math.max(seconds * SUSPICIOUS_TIMES, LEAST_SUSPICIOUS_S)),
    };
  }
}
