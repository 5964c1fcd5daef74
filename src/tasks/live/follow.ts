import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { matchesFilter } from '../record/matches-filter.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { ChangedTasks, type End } from '../sql/changed-tasks.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { CachedTasks } from '../queue/task-cache.ts';
import { Backlog } from './backlog.ts';
import type { PullQueue } from '../../platform/run/pull-queue.ts';
import { Turns } from '../../platform/run/turns.ts';
import { LiveQueue } from './live-queue.ts';
import { StreamPace } from './stream-pace.ts';
import { TaskFeed } from '../queue/task-feed.ts';

interface FollowOptions {
  /** The sequence of an unfinished state that the subscriber has already received. Only newer states are sent. */
  after?: number | undefined;
  /** Whether the subscriber gets the whole task, so that long inputs wait for their turn. */
  isPaced?: boolean;
}

interface FollowAllOptions {
  filter?: TaskFilter;
  /** Unix milliseconds by the database's clock. The tasks that have ended since this time are sent first. */
  endedSinceMs?: number;
  /** Whether the subscriber has already received the end of the task. */
  isKnown?: (taskId: string) => boolean;
}

type InTurn = <Result>(read: () => Promise<Result>) => Promise<Result>;

/** Follows tasks from their current state on, for GraphQL subscriptions and event streams. */
@Injectable()
export class FollowTasks {
  /** The streams of a key read in turn. A thousand of them would hold up all other keys. */
  private readonly reading = new Turns(Infinity, { ofOwner: 1 });

  constructor(
    private readonly feed: TaskFeed,
    private readonly tasks: CachedTasks,
    private readonly changed: ChangedTasks,
    private readonly backlog: Backlog,
    private readonly pace: StreamPace,
  ) {}

  /**
   * Follows one task: its current state first, then newer states. A slow subscriber gets only the latest state. The
   * queue ends after the final state. A subscriber that leaves earlier must end the queue (`return()`, `close()`).
   * @throws ApiError task_not_found
   */
  async follow(
    apiKeyId: string,
    taskId: string,
    { after, isPaced = false }: FollowOptions = {},
  ): Promise<PullQueue<ShownTask>> {
    const queue = new LiveQueue({
      read: (ids) => this.tasks.findMany(ids),
      endsWithTask: true,
      ...(isPaced && { pace: (task, closed) => this.pace.turnOf(task, closed) }),
    });
    // Starts to watch before the read, so that no change is missed.
    queue.states.whenClosed(this.feed.watch(taskId, (task) => queue.push(task)));
    try {
      const current = await this.tasks.findOfKey(apiKeyId, taskId);
      if (after !== undefined) queue.skip(taskId, after);
      queue.push(current);
    } catch (error) {
      queue.states.close();
      throw error;
    }
    return queue.states;
  }

  /**
   * Follows all tasks of a key: the unfinished ones in their current state, then changes. A slow subscriber gets only
   * the latest state of each task.
   */
  async followAll(
    apiKeyId: string,
    { filter = {}, endedSinceMs, isKnown = () => false }: FollowAllOptions = {},
  ): Promise<PullQueue<ShownTask>> {
    const closed = new AbortController();
    const inTurn: InTurn = (read) => this.reading.take(apiKeyId, closed.signal, read);
    const queue = new LiveQueue({
      read: (ids) => inTurn(() => this.tasks.findMany(ids)),
      accepts: (task) => matchesFilter(task, filter),
      pace: (task, closed) => this.pace.turnOf(task, closed),
    });
    queue.states.whenClosed(() => closed.abort(new ApiError('service_unavailable')));
    this.backlog.add(queue);
    queue.states.whenClosed(this.feed.watchKey(apiKeyId, (task) => queue.push(task)));
    try {
      const unfinished = pagesInTurn(this.changed.unfinished([apiKeyId]), inTurn);
      if (endedSinceMs === undefined) {
        for await (const ids of unfinished) queue.pushUnfinished(ids);
      } else {
        const ended = pagesInTurn(this.changed.endedSince(apiKeyId, endedSinceMs), inTurn);
        await queue.catchUp(without(ended, isKnown), unfinished);
      }
    } catch (error) {
      queue.states.close();
      throw error;
    }
    return queue.states;
  }
}

async function* pagesInTurn<Page>(pages: AsyncGenerator<Page>, inTurn: InTurn): AsyncGenerator<Page> {
  for (;;) {
    const page = await inTurn(() => pages.next());
    if (page.done) return;
    yield page.value;
  }
}

async function* without(pages: AsyncIterable<End[]>, isKnown: (taskId: string) => boolean): AsyncGenerator<End[]> {
  for await (const ends of pages) yield ends.filter(({ id }) => !isKnown(id));
}
