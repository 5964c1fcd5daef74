import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Repository } from 'typeorm';
import type { Caller } from '../auth/caller.ts';
import { ApiError } from '../errors/api-error.ts';
import type { MediaKind } from '../models/media-kind.ts';
import { deadlineS } from '../models/model.ts';
import { Config } from '../platform/config.ts';
import { DAY_MS, HOUR_S } from '../platform/time.ts';
import { DatabaseClock } from './database-clock.ts';
import { CreateKeyedTasks, type Creation, type Idempotency } from './sql/create-keyed-tasks.ts';
import { CreateTasks } from './sql/create-tasks.ts';
import { ReadTasks } from './sql/read-tasks.ts';
import { isTaskId, newTaskId } from './task-id.ts';
import type { ShownTask } from './task.entity.ts';
import { IdempotencyKey } from './idempotency-key.entity.ts';
import { TaskQueue } from './queue/task-queue.ts';
import { taskError } from './task-error.ts';
import { TaskFeed } from './live/task-feed.ts';
import { isFinal } from './task-status.ts';
import { OpenWaits } from './live/open-waits.ts';
import { untilFinal } from './live/until-final.ts';
import { WakeSignal } from './queue/wake-signal.ts';

interface TaskRequest {
  kind: MediaKind;
  model: string;
  input: object;
  metadata: Record<string, string>;
}

/** Inputs may be long, so the cache is also bounded by characters: some 64 MB. */
const CACHED_CHARACTERS = 32_000_000;

/** The tasks as clients use them: create, find, cancel. */
@Injectable()
export class TasksService {
  /**
   * A final task never changes, so it is served from memory until its record expires. The cache is kept small: with 20,000
   * tasks garbage collection made every other request a fifth slower.
   */
  private readonly finals = new LRUCache<string, ShownTask>({
    max: 5_000,
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: charactersOf,
  });

  constructor(
    private readonly config: Config,
    private readonly creates: CreateTasks,
    private readonly keyedCreates: CreateKeyedTasks,
    private readonly reads: ReadTasks,
    private readonly queue: TaskQueue,
    private readonly feed: TaskFeed,
    private readonly wakeSignal: WakeSignal,
    private readonly clock: DatabaseClock,
    private readonly waits: OpenWaits,
    @InjectRepository(IdempotencyKey) private readonly idempotencyKeys: Repository<IdempotencyKey>,
  ) {}

  /**
   * Stores the task, and the idempotency key if there is one, in one commit; then wakes the workers.
   * @param idempotencyOf returns the key and the response that repeated requests get, for the new task
   * @throws ApiError queue_full, idempotency_key_reused, idempotency_in_progress, service_unavailable
   */
  async create(
    caller: Caller,
    request: TaskRequest,
    idempotencyOf: ((task: ShownTask) => Omit<Idempotency, 'key_ttl_s'>) | null,
  ): Promise<{ task: ShownTask; replayed: Creation['replayed'] }> {
    const task = this.newTask(caller, request);
    const row = {
      id: task.id,
      api_key_id: task.api_key_id,
      kind: task.kind,
      model: task.model,
      input: task.input,
      metadata: task.metadata,
      created_at: task.created_at.getTime(),
      expires_at: task.expires_at.getTime(),
      deadline_s: deadlineS(task.kind, this.config),
      max_queued: caller.limits.maxQueued,
      max_running: caller.limits.maxRunning,
    };
    if (idempotencyOf) {
      const key_ttl_s = this.config.idempotencyTtlH * HOUR_S;
      const { replayed } = await this.keyedCreates.create({ ...row, ...idempotencyOf(task), key_ttl_s });
      if (replayed) return { task, replayed };
    } else {
      await this.creates.create(row);
    }
    this.feed.publish([task]);
    this.wakeSignal.notify();
    return { task, replayed: null };
  }

  /** Replaces the stored response of an idempotency key: a request with `Prefer: wait` is answered later than it is stored. */
  async answeredWith(apiKeyId: string, key: string, taskId: string, json: string): Promise<void> {
    await this.idempotencyKeys.update({ api_key_id: apiKeyId, key, task_id: taskId }, { response: json });
  }

  /** @throws ApiError task_not_found, also for a malformed id and for another API key's task */
  async find(apiKeyId: string, taskId: string): Promise<ShownTask> {
    const task = isTaskId(taskId) ? await this.read(taskId) : null;
    if (task?.api_key_id !== apiKeyId) throw new ApiError('task_not_found', { param: 'task_id' });
    return task;
  }

  /**
   * Like `find`, but returns only when the task is final, has another sequence than `changedFrom`, or time is up. Returns
   * at once when the key has too many open waits, or when the service stops.
   */
  async findWhenFinal(
    apiKeyId: string,
    taskId: string,
    seconds: number,
    { changedFrom, gone }: { changedFrom?: number | undefined; gone?: AbortSignal | undefined } = {},
  ): Promise<ShownTask> {
    const current = await this.find(apiKeyId, taskId);
    const wait = this.waits.start(apiKeyId, gone);
    if (wait === null) return current;
    try {
      const options = { seconds, changedFrom, over: wait.over };
      return await untilFinal(this.feed, taskId, () => this.find(apiKeyId, taskId), options);
    } finally {
      wait.close();
    }
  }

  /** Cancels an unfinished task; a finished one stays unchanged. */
  async cancel(apiKeyId: string, taskId: string): Promise<{ task: ShownTask; cancelled: boolean }> {
    const current = await this.find(apiKeyId, taskId);
    if (isFinal(current.status)) return { task: current, cancelled: false };
    const ended = await this.queue.end({
      api_key_id: apiKeyId,
      id: taskId,
      attempt: null,
      outcome: { status: 'failed', error: taskError('task_cancelled') },
    });
    return ended ? { task: ended, cancelled: true } : { task: await this.find(apiKeyId, taskId), cancelled: false };
  }

  /** Reads the task of any API key: signed links carry their own permission. */
  async read(taskId: string): Promise<ShownTask | null> {
    const cached = this.finals.get(taskId);
    if (cached) {
      // Answer at the end of the event-loop turn, like the reads that query the database: the responses of one turn are
      // sent together, which costs both sides fewer wake-ups.
      await endOfTurn();
      return cached.expires_at.getTime() > this.clock.nowMs() ? cached : null;
    }
    const task = await this.reads.find(taskId);
    if (task && isFinal(task.status)) this.finals.set(taskId, task);
    return task;
  }

  private newTask(caller: Caller, { kind, model, input, metadata }: TaskRequest): ShownTask {
    const now = this.clock.nowMs();
    return {
      id: newTaskId(now),
      api_key_id: caller.apiKeyId,
      kind,
      model,
      status: 'queued',
      progress: 0,
      sequence: 1,
      input: input as Record<string, unknown>,
      metadata,
      created_at: new Date(now),
      started_at: null,
      completed_at: null,
      expires_at: new Date(now + this.config.taskRetentionDays * DAY_MS),
      attempt: 0,
      approximations: null,
      result: null,
      error: null,
      files_expire_at: null,
    };
  }
}

/** Image URLs (16 of 2,048 characters) and metadata (16 pairs of 576) can outweigh the prompt. */
export function charactersOf({ input, metadata, result }: Pick<ShownTask, 'input' | 'metadata' | 'result'>): number {
  return 1_000 + JSON.stringify(input).length + JSON.stringify(metadata).length + (result?.length ?? 0) * 400;
}
