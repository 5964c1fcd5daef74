import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { BUS, type Bus } from '../../platform/events/bus.ts';
import { Interval } from '../../platform/interval.ts';
import { ChangedTasks } from '../sql/changed-tasks.ts';
import { ReadTasks } from '../sql/read-tasks.ts';
import type { ShownTask } from '../task.entity.ts';
import { isFinal } from '../task-status.ts';

export type Watcher = (task: ShownTask) => void;

const TOPIC = 'task';
/** Rows read at once; a whole backlog at once would be refused. */
const CHUNK = 500;
/**
 * How often watched tasks are looked at without any news: a process killed between its commit and its announcement tells
 * nobody.
 */
const LOOK_S = 15;
/** How far back that look goes: over the look before, and over the longest commit. */
const LOOK_BACK_S = 2 * LOOK_S + 10;
/** Tasks whose end was told here, so that the look neither reads nor tells them again. */
const REMEMBERED_ENDS = 50_000;

/**
 * Changes of tasks, as they happen, in every process. In the process that made a change its watchers get the row at
 * once; the others hear the id and read the row, once for all watchers. A watcher sees a task's sequence rise, may miss
 * states in between, and is told the newest again after the bus was away. No end is missed for longer than the look.
 */
@Injectable()
export class TaskFeed implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('feed');
  private readonly ofTask = new Map<string, Set<Watcher>>();
  private readonly ofKey = new Map<string, Set<Watcher>>();
  private readonly deliveredEnds = new LRUCache<string, true>({ max: REMEMBERED_ENDS });
  private readonly catchUps = new Interval(async () => {
    await this.catchUp(LOOK_BACK_S);
    return LOOK_S * (0.8 + Math.random() * 0.4); // processes started together do not look together
  });

  constructor(
    @Inject(BUS) private readonly bus: Bus,
    private readonly reads: ReadTasks,
    private readonly changed: ChangedTasks,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    this.bus.subscribe(TOPIC, (bodies) => void this.reread(bodies.map(parseChange)));
    this.bus.onReconnect((deafS) => void this.afterReconnect(deafS));
    await this.bus.start();
    this.catchUps.start(LOOK_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.catchUps.stop();
    await this.bus.stop();
  }

  /** Call after the commit. */
  publish(tasks: Iterable<ShownTask>): void {
    for (const task of tasks) {
      this.deliver(task);
      this.bus.publish(TOPIC, `${task.id} ${task.api_key_id}`);
    }
  }

  /** @returns how to stop watching */
  watch(taskId: string, watcher: Watcher): () => void {
    return subscribe(this.ofTask, taskId, watcher);
  }

  /** All tasks of an API key. */
  watchKey(apiKeyId: string, watcher: Watcher): () => void {
    return subscribe(this.ofKey, apiKeyId, watcher);
  }

  private deliver(task: ShownTask): void {
    if (isFinal(task.status)) this.deliveredEnds.set(task.id, true); // unwatched too: it is old news to who comes later
    for (const watcher of this.ofTask.get(task.id) ?? []) watcher(task);
    for (const watcher of this.ofKey.get(task.api_key_id) ?? []) watcher(task);
  }

  private async reread(news: { id: string; apiKeyId: string }[]): Promise<void> {
    const wanted = new Set<string>();
    for (const { id, apiKeyId } of news) {
      if (this.ofTask.has(id) || this.ofKey.has(apiKeyId)) wanted.add(id);
    }
    await this.readAndDeliver([...wanted]);
  }

  /** News was lost: every watched task is told as it stands, and of watched keys whatever has ended. */
  private async afterReconnect(deafS: number): Promise<void> {
    await this.readAndDeliver([...this.ofTask.keys()]);
    await this.deliverUnfinished();
    await this.catchUp(deafS + LOOK_BACK_S);
  }

  private async deliverUnfinished(): Promise<void> {
    for (const apiKeyIds of chunks([...this.ofKey.keys()])) {
      await this.readAndDeliver(await this.idsOrNone(this.changed.unfinished(apiKeyIds)));
    }
  }

  /** Tells what ended without our hearing of it. */
  private async catchUp(backS: number): Promise<void> {
    for (const taskIds of chunks([...this.ofTask.keys()])) {
      await this.readAndDeliver(await this.idsOrNone(this.changed.endedOf(taskIds)));
    }
    for (const apiKeyIds of chunks([...this.ofKey.keys()])) {
      const ids = await this.idsOrNone(this.changed.endedWithin(apiKeyIds, backS));
      await this.readAndDeliver(ids.filter((id) => !this.deliveredEnds.has(id)));
    }
  }

  /** The database is away: there will be another look. */
  private idsOrNone(ids: Promise<string[]>): Promise<string[]> {
    return ids.catch((error: Error) => {
      this.logger.warn({ event: 'feed.look_failed', err: error });
      return [];
    });
  }

  private async readAndDeliver(ids: string[]): Promise<void> {
    for (const chunk of chunks(ids)) {
      await Promise.all(
        chunk.map(async (id) => {
          const task = await this.reads.find(id).catch(() => null); // told at the next look
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

function subscribe(watchers: Map<string, Set<Watcher>>, key: string, watcher: Watcher): () => void {
  const mine = watchers.get(key) ?? new Set();
  watchers.set(key, mine.add(watcher));
  return () => {
    mine.delete(watcher);
    if (mine.size === 0 && watchers.get(key) === mine) watchers.delete(key);
  };
}
