import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Bus } from '../../platform/events/bus.ts';
import { elapsedMs, readClocks } from '../../platform/run/clocks.ts';
import { Interval } from '../../platform/run/interval.ts';
import { ChangedTasks } from '../sql/changed-tasks.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import { foundLate } from './task-metrics.ts';

export type Watcher = (task: ShownTask) => void;

const TOPIC = 'task';
/** The last word of the event of an end. */
const END = 'end';
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
/** How far a poll looks back for ends, beyond the last complete poll: longer than the longest commit takes. */
const LOOK_BACK_S = 25;
/**
 * The most ended tasks that a process remembers to have delivered, so that a poll neither reads nor delivers them
 * again. An end counts as delivered even without a watcher, because a later watcher reads the current state first.
 */
const REMEMBERED_ENDS = 50_000;

/**
 * Publishes changes of tasks to watchers in every process. In the process that made a change, the watchers get the row
 * at once. Other processes get the id and read the row once for all their watchers. A watcher may miss states, but gets
 * the others in the order of their sequence. After the bus was disconnected, watchers get the latest state again. If
 * the event of an end is lost, the next poll delivers the end, once the database answers.
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
  /** When the last poll began that delivered all missed ends. */
  private completeAt = readClocks();
  private readonly polls = new Interval(async () => {
    await this.attempt(() => this.poll());
    return POLL_S * (0.8 + Math.random() * 0.2); // jitter: processes started together do not poll together
  });

  constructor(
    private readonly bus: Bus,
    private readonly reads: ReadTasks,
    private readonly changed: ChangedTasks,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.bus.subscribe(TOPIC, (bodies) => void this.readChanged(bodies.map(parseChange)));
    this.bus.onReconnect(() => void this.afterReconnect());
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
      this.bus.publish(TOPIC, `${task.id} ${task.api_key_id}${isFinal(task.status) ? ` ${END}` : ''}`);
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
    if (isFinal(task.status)) this.deliveredEnds.set(task.id, true);
    for (const watcher of this.ofTask.get(task.id) ?? []) watcher(task);
    for (const watcher of this.ofKey.get(task.api_key_id) ?? []) watcher(task);
  }

  private async readChanged(changes: ReturnType<typeof parseChange>[]): Promise<void> {
    const watched = new Set<string>();
    for (const { id, apiKeyId, isEnd } of changes) {
      if (this.ofTask.has(id) || this.ofKey.has(apiKeyId)) watched.add(id);
      else if (isEnd) this.deliveredEnds.set(id, true);
    }
    await this.readAndDeliver([...watched]);
  }

  /**
   * Called after events were lost. Delivers the current state of every watched task, and of the unfinished and ended
   * tasks of watched keys.
   */
  private async afterReconnect(): Promise<void> {
    await this.readAndDeliver([...this.ofTask.keys()]);
    await this.attempt(() => this.deliverUnfinished());
    await this.attempt(() => this.poll());
  }

  private async deliverUnfinished(): Promise<void> {
    for (const apiKeyIds of chunks([...this.ofKey.keys()])) {
      for await (const ids of this.changed.unfinished(apiKeyIds)) await this.readAndDeliver(ids);
    }
  }

  /** Delivers the ends whose event never arrived. */
  private async poll(): Promise<void> {
    const begunAt = readClocks();
    const backMs = elapsedMs(this.completeAt) + LOOK_BACK_S * 1000;
    let isComplete = true;
    for (const taskIds of chunks([...this.ofTask.keys()])) {
      const ids = await this.changed.endedOf(taskIds);
      this.countLate(ids);
      isComplete = (await this.readAndDeliver(ids)) && isComplete;
    }
    const sinceMs = (await this.changed.nowMs()) - backMs;
    for (const apiKeyIds of chunks([...this.ofKey.keys()])) {
      for await (const ends of this.changed.endedOfKeys(apiKeyIds, sinceMs)) {
        isComplete = (await this.readAndDeliver(this.countLate(ends.map(({ id }) => id)))) && isComplete;
      }
    }
    if (isComplete) this.completeAt = begunAt;
  }

  /** Counts the ends that were not delivered before. @returns the ids of their tasks */
  private countLate(ids: string[]): string[] {
    const late = ids.filter((id) => !this.deliveredEnds.has(id));
    foundLate.inc(late.length);
    return late;
  }

  /** Logs the failure of a read. What it left out and has ended is delivered by the next poll. */
  private async attempt(read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (err) {
      this.logger.warn({ event: 'feed.poll_failed', err });
    }
  }

  /** @returns whether every task was read; if not, the next poll delivers those that have ended */
  private async readAndDeliver(ids: string[]): Promise<boolean> {
    let isComplete = true;
    for (const chunk of chunks(ids)) {
      await Promise.all(
        chunk.map(async (id) => {
          try {
            const task = await this.reads.findStored(id);
            if (task) this.deliver(task);
          } catch {
            isComplete = false;
          }
        }),
      );
    }
    return isComplete;
  }
}

function* chunks(ids: string[]): Generator<string[]> {
  for (let from = 0; from < ids.length; from += CHUNK) yield ids.slice(from, from + CHUNK);
}

function parseChange(body: string): { id: string; apiKeyId: string; isEnd: boolean } {
  const [id = '', apiKeyId = '', mark] = body.split(' ');
  return { id, apiKeyId, isEnd: mark === END };
}

function addWatcher(watchers: Map<string, Set<Watcher>>, key: string, watcher: Watcher): () => void {
  const ofKey = watchers.get(key) ?? new Set();
  watchers.set(key, ofKey.add(watcher));
  return () => {
    ofKey.delete(watcher);
    if (ofKey.size === 0 && watchers.get(key) === ofKey) watchers.delete(key);
  };
}
