import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Bus } from '../../platform/events/bus.ts';
import { Interval } from '../../platform/run/interval.ts';
import { ChangedTasks } from '../sql/changed-tasks.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import { foundLate } from './task-metrics.ts';

export type Watcher = (task: ShownTask) => void;

const TOPIC = 'task';
/**
 * The most rows that are read at the same time. The queue of reads is bounded, so it would refuse the rows of a whole
 * backlog.
 */
const CHUNK = 500;
/**
 * How often watched tasks are polled, in seconds. A process that is killed between its commit and its event publishes
 * nothing. A subscriber then gets the end this much later.
 */
export const POLL_S = 15;
/** How far back a poll looks for ends: longer than the time since the last poll plus the longest commit. */
const LOOK_BACK_S = 2 * POLL_S + 10;
/**
 * The most ended tasks that a process remembers to have delivered, so that a poll neither reads nor delivers them
 * again.
 */
const REMEMBERED_ENDS = 50_000;

/**
 * Publishes changes of tasks to watchers in every process. In the process that made a change, the watchers get the row
 * at once. Other processes get the id and read the row once for all their watchers. A watcher may miss states, but gets
 * the others in the order of their sequence. After the bus was disconnected, watchers get the latest state again. If
 * the event of an end is lost, the next poll delivers the end, if the database answers.
 */
@Injectable()
export class TaskFeed implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('feed');
  private readonly ofTask = new Map<string, Set<Watcher>>();
  private readonly ofKey = new Map<string, Set<Watcher>>();
  private readonly deliveredEnds = new LRUCache<string, true>({
    maxSize: REMEMBERED_ENDS, // `max` would reserve 1 MB at once
    sizeCalculation: () => 1,
  });
  private readonly polls = new Interval(async () => {
    await this.deliverMissedEnds(LOOK_BACK_S);
    return POLL_S * (0.8 + Math.random() * 0.2); // jitter: processes started together do not poll together
  });

  constructor(
    private readonly bus: Bus,
    private readonly reads: ReadTasks,
    private readonly changed: ChangedTasks,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.bus.subscribe(TOPIC, (bodies) => void this.readChanged(bodies.map(parseChange)));
    this.bus.onReconnect((missedS) => void this.afterReconnect(missedS));
    await this.bus.start();
    this.polls.start(POLL_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.polls.stop();
    await this.bus.stop();
  }

  /** Call this after the commit of the changes. */
  publish(tasks: Iterable<ShownTask>): void {
    for (const task of tasks) {
      this.deliver(task);
      this.bus.publish(TOPIC, `${task.id} ${task.api_key_id}`);
    }
  }

  /** @returns a function that stops watching */
  watch(taskId: string, watcher: Watcher): () => void {
    return addWatcher(this.ofTask, taskId, watcher);
  }

  /** Watches all tasks of an API key. @returns a function that stops watching */
  watchKey(apiKeyId: string, watcher: Watcher): () => void {
    return addWatcher(this.ofKey, apiKeyId, watcher);
  }

  private deliver(task: ShownTask): void {
    // An end counts as delivered even without a watcher, because a later watcher reads the current state first.
    if (isFinal(task.status)) this.deliveredEnds.set(task.id, true);
    for (const watcher of this.ofTask.get(task.id) ?? []) watcher(task);
    for (const watcher of this.ofKey.get(task.api_key_id) ?? []) watcher(task);
  }

  private async readChanged(changes: { id: string; apiKeyId: string }[]): Promise<void> {
    const watched = new Set<string>();
    for (const { id, apiKeyId } of changes) {
      if (this.ofTask.has(id) || this.ofKey.has(apiKeyId)) watched.add(id);
    }
    await this.readAndDeliver([...watched]);
  }

  /**
   * Called after events were lost. Delivers the current state of every watched task, and of the unfinished and ended
   * tasks of watched keys.
   */
  private async afterReconnect(missedS: number): Promise<void> {
    await this.readAndDeliver([...this.ofTask.keys()]);
    await this.deliverUnfinished();
    await this.deliverMissedEnds(missedS + LOOK_BACK_S);
  }

  private async deliverUnfinished(): Promise<void> {
    for (const apiKeyIds of chunks([...this.ofKey.keys()])) {
      await this.readAndDeliver(await this.idsOrNone(this.changed.unfinished(apiKeyIds)));
    }
  }

  /** Delivers the ends whose event never arrived. */
  private async deliverMissedEnds(backS: number): Promise<void> {
    for (const taskIds of chunks([...this.ofTask.keys()])) {
      const ids = await this.idsOrNone(this.changed.endedOf(taskIds));
      this.countLate(ids);
      await this.readAndDeliver(ids);
    }
    for (const apiKeyIds of chunks([...this.ofKey.keys()])) {
      const ids = await this.idsOrNone(this.changed.endedWithin(apiKeyIds, backS));
      await this.readAndDeliver(this.countLate(ids));
    }
  }

  /** Counts the ends that were not delivered before. @returns the ids of their tasks */
  private countLate(ids: string[]): string[] {
    const late = ids.filter((id) => !this.deliveredEnds.has(id));
    foundLate.inc(late.length);
    return late;
  }

  /** The ids, or none while the database is down. The next poll covers the same time. */
  private idsOrNone(ids: Promise<string[]>): Promise<string[]> {
    return ids.catch((err: unknown) => {
      this.logger.warn({ event: 'feed.poll_failed', err });
      return [];
    });
  }

  private async readAndDeliver(ids: string[]): Promise<void> {
    for (const chunk of chunks(ids)) {
      await Promise.all(
        chunk.map(async (id) => {
          const task = await this.reads.findStored(id).catch(() => null); // the next poll delivers it
          if (task) this.deliver(task);
        }),
      );
    }
  }
}

function* chunks(ids: string[]): Generator<string[]> {
  for (let from = 0; from < ids.length; from += CHUNK) yield ids.slice(from, from + CHUNK);
}

function parseChange(body: string): { id: string; apiKeyId: string } {
  const [id = '', apiKeyId = ''] = body.split(' ');
  return { id, apiKeyId };
}

function addWatcher(watchers: Map<string, Set<Watcher>>, key: string, watcher: Watcher): () => void {
  const ofKey = watchers.get(key) ?? new Set();
  watchers.set(key, ofKey.add(watcher));
  return () => {
    ofKey.delete(watcher);
    if (ofKey.size === 0 && watchers.get(key) === ofKey) watchers.delete(key);
  };
}
