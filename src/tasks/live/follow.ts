import { Injectable } from '@nestjs/common';
import { ChangedTasks, MAX_CHANGED } from '../sql/changed-tasks.ts';
import type { TaskFilter } from '../list/task-filter.ts';
import { LiveQueue } from './live-queue.ts';
import { matchesFilter } from '../list/matches-filter.ts';
import { TaskFeed } from './task-feed.ts';
import type { ShownTask } from '../task.entity.ts';
import { TasksService } from '../tasks.service.ts';

interface FollowAllOptions {
  filter?: TaskFilter;
  /** Also what has ended since then; unix milliseconds by the database's clock. */
  endedSinceMs?: number;
  /** Tasks whose end the reader knows already. */
  known?: (taskId: string) => boolean;
}

/** Follows tasks from their present state on, for GraphQL subscriptions and event streams alike. */
@Injectable()
export class FollowTasks {
  constructor(
    private readonly feed: TaskFeed,
    private readonly tasks: TasksService,
    private readonly changed: ChangedTasks,
  ) {}

  /**
   * One task: its present state first, then every newer one that the reader is quick enough for; ends after the final one.
   * The reader must end it (`return()`, `close()`).
   * @param after the sequence of a state that the reader has seen: only newer ones then
   * @throws ApiError task_not_found
   */
  async follow(apiKeyId: string, taskId: string, after?: number): Promise<LiveQueue> {
    const queue = new LiveQueue({ read: (ids) => this.read(ids), endsWithTask: true });
    queue.whenClosed(this.feed.watch(taskId, (task) => queue.push(task))); // first, so that nothing falls in between
    try {
      const present = await this.tasks.find(apiKeyId, taskId);
      if (after !== undefined) queue.skip(taskId, after);
      queue.push(present);
    } catch (error) {
      queue.close();
      throw error;
    }
    return queue;
  }

  /** All tasks of a key: the unfinished ones as they stand, then every change. */
  async followAll(apiKeyId: string, { filter = {}, endedSinceMs, known }: FollowAllOptions = {}): Promise<LiveQueue> {
    const queue = new LiveQueue({
      read: (ids) => this.read(ids),
      wanted: (task) => matchesFilter(task, filter),
    });
    queue.whenClosed(this.feed.watchKey(apiKeyId, (task) => queue.push(task)));
    try {
      if (endedSinceMs !== undefined) await this.replay(queue, apiKeyId, endedSinceMs, known);
      queue.pushIds(await this.changed.unfinished([apiKeyId]));
    } catch (error) {
      queue.close();
      throw error;
    }
    return queue;
  }

  private async replay(
    queue: LiveQueue,
    apiKeyId: string,
    sinceMs: number,
    known: FollowAllOptions['known'],
  ): Promise<void> {
    const ended = await this.changed.endedSince(apiKeyId, sinceMs);
    queue.pushIds(known ? ended.filter((id) => !known(id)) : ended);
    if (ended.length === MAX_CHANGED) queue.endWhenTold(); // the reader comes back from there for the rest
  }

  private async read(ids: string[]): Promise<ShownTask[]> {
    const tasks = await Promise.all(ids.map((id) => this.tasks.read(id)));
    return tasks.filter((task) => task !== null);
  }
}
