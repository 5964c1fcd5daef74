import { Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Bus } from '../../platform/events/bus.ts';
import { ApiError } from '../../errors/api-error.ts';
import { DatabaseClock } from './database-clock.ts';
import { isTaskId } from '../record/task-id.ts';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import { countListed, type Listed, LISTED_CHARACTERS } from '../sql/page-of-tasks.ts';
import { ReadTasks } from '../sql/read-tasks.ts';

const TOPIC = 'task_deleted';
/**
 * The most characters of the cached tasks and of their JSON, some 64 MB. A limit on the number of tasks alone is not
 * enough, because inputs may be long.
 */
const CACHED_CHARACTERS = 32_000_000;
/** After this time a task is read again, because the event of a deletion may be lost. */
const TTL_MS = 15_000;
/**
 * How long a dropped task is not cached again. This is longer than a read takes: a read that began before a deletion
 * must not cache its result.
 */
const DROPPED_MS = 60_000;
const MAX_DROPPED = 50_000;

/**
 * Tasks in memory. A final task may still change, in another process too: the task or its outputs are deleted, get or
 * lose a star, or the cost is corrected. A queued task is returned only to a reader that knows its sequence in the
 * database. Running tasks are not kept, because some of what clients see changes without a new sequence. The cache is
 * small: with 20,000 tasks, garbage collection made all other requests a fifth slower.
 */
@Injectable()
export class TaskCache implements OnModuleInit {
  private readonly tasks = new LRUCache<string, ShownTask>({
    max: 5_000,
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: charactersOf,
    ttl: TTL_MS,
  });
  private readonly dropped = new LRUCache<string, true>({
    maxSize: MAX_DROPPED, // `max` would reserve 2 MB at once
    sizeCalculation: () => 1,
    ttl: DROPPED_MS,
  });

  constructor(
    private readonly bus: Bus,
    private readonly clock: DatabaseClock,
  ) {}

  onModuleInit(): void {
    this.bus.subscribe(TOPIC, (ids) => ids.forEach((id) => this.forget(id)));
    this.bus.onReconnect(() => this.tasks.clear());
  }

  /** @returns null once the record has expired; undefined when the task is not cached or not final */
  final(taskId: string): ShownTask | null | undefined {
    const task = this.tasks.get(taskId);
    if (!task || !isFinal(task.status)) return undefined;
    return task.expires_at.getTime() <= this.clock.nowMs() ? null : task;
  }

  /** @param sequence the sequence that the task has in the database now */
  ofSequence(taskId: string, sequence: number): ShownTask | undefined {
    const task = this.tasks.get(taskId);
    return task?.sequence === sequence ? task : undefined;
  }

  add(task: ShownTask): void {
    if (task.status !== 'running' && !this.dropped.has(task.id)) this.tasks.set(task.id, task);
  }

  /** Call this after the commit of a change of a final task: every process then reads the task again. */
  drop(taskId: string): void {
    this.forget(taskId);
    this.bus.publish(TOPIC, taskId);
  }

  /** Forgets the task in this process only. */
  private forget(taskId: string): void {
    this.dropped.set(taskId, true);
    this.tasks.delete(taskId);
  }
}

/**
 * About how many characters a task and its JSON take. Image URLs (16 of 2,048 characters) and metadata (16 pairs of
 * 576) can be longer than the prompt.
 */
export function charactersOf({ input, metadata, result }: Pick<ShownTask, 'input' | 'metadata' | 'result'>): number {
  return 2 * (1_000 + JSON.stringify(input).length + JSON.stringify(metadata).length + (result?.length ?? 0) * 400);
}

/** How many tasks of a page are read at the same time. Most pages have no more. */
const READ_AT_ONCE = 20;

/** Reads tasks by id: final ones from memory where they are cached, all others from the database. */
@Injectable()
export class CachedTasks {
  constructor(
    private readonly cache: TaskCache,
    private readonly reads: ReadTasks,
  ) {}

  /** @throws ApiError task_not_found, also for a malformed id and for another API key's task */
  async findOfKey(apiKeyId: string, taskId: string): Promise<ShownTask> {
    const task = isTaskId(taskId) ? await this.find(taskId) : null;
    if (task?.api_key_id !== apiKeyId) throw new ApiError('task_not_found', { param: 'task_id' });
    return task;
  }

  /** Finds a task of any API key. @returns null when there is no such task or its record has expired */
  async find(taskId: string): Promise<ShownTask | null> {
    const cached = this.cache.final(taskId);
    if (cached !== undefined) {
      // Answers at the end of the event-loop turn, like the reads that query the database. The responses of one turn
      // are sent together, which costs both sides fewer wake-ups.
      await endOfTurn();
      return cached;
    }
    const read = await this.reads.find(taskId);
    if (read) this.keep(read);
    return read;
  }

  /**
   * Reads many tasks as one item of a batch, so that they delay the reads of single tasks little.
   * @returns the tasks that were found, in any order
   */
  async findMany(taskIds: readonly string[]): Promise<ShownTask[]> {
    const cached = taskIds.map((id) => this.cache.final(id));
    const missing = taskIds.filter((_, at) => cached[at] === undefined);
    const found = cached.filter((task) => task !== undefined && task !== null);
    if (missing.length === 0) return found;
    const read = await this.reads.findMany(missing);
    for (const id of missing) {
      const task = read.get(id);
      if (!task) continue;
      this.keep(task);
      found.push(task);
    }
    return found;
  }

  /**
   * The tasks of a page whose ids were just read. A task that has changed since then is returned in its present state.
   * The page ends early, but after at least one task, when the lists of this request have read LISTED_CHARACTERS.
   * @param belongs whether a changed task still belongs to the page; a task that does not is left out
   */
  async findPage(
    listed: Listed[],
    belongs: (task: ShownTask) => boolean,
  ): Promise<{ tasks: ShownTask[]; isCut: boolean }> {
    const tasks: ShownTask[] = [];
    for (let at = 0; at < listed.length; at += READ_AT_ONCE) {
      for (const task of await this.findListed(listed.slice(at, at + READ_AT_ONCE), belongs)) {
        if (countListed(task) > LISTED_CHARACTERS && tasks.length > 0) return { tasks, isCut: true };
        tasks.push(task);
      }
    }
    return { tasks, isCut: false };
  }

  private async findListed(listed: Listed[], belongs: (task: ShownTask) => boolean): Promise<ShownTask[]> {
    const cached = listed.map(({ id, sequence }) => this.cache.ofSequence(id, sequence));
    const missing = listed.filter((_, at) => cached[at] === undefined);
    if (missing.length === 0) return cached as ShownTask[];
    const read = await this.reads.findMany(missing.map(({ id }) => id));
    for (const { id } of missing) {
      const found = read.get(id);
      if (found) this.cache.add(found);
    }
    return listed.flatMap(({ id, sequence }, at) => {
      const found = cached[at] ?? read.get(id);
      return found && (found.sequence === sequence || belongs(found)) ? [found] : [];
    });
  }

  /** Caches a final task; ignores others. Does not prolong the time of a task that is already cached. */
  keep(task: ShownTask): void {
    if (isFinal(task.status) && !this.cache.ofSequence(task.id, task.sequence)) this.cache.add(task);
  }
}

let turn: Promise<void> | undefined;

/**
 * Resolves when the event loop has read everything that arrived in this turn. All callers share one promise, so they go
 * on together: the same code runs for one request after the other, and their responses leave together.
 */
export function endOfTurn(): Promise<void> {
  turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  });
  return turn;
}
