import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { isAhead } from '../../platform/database/past.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { Config } from '../../platform/config/config.ts';
import { HOUR_S } from '../../platform/schema/time.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import { BudgetRefusals } from './budget-refusals.ts';
import { CachedTasks } from '../queue/task-cache.ts';
import { countersAbove, NewTasks, type TaskRequest } from './new-tasks.ts';
import { CreateSharedTasks } from '../sql/create-shared-tasks.ts';
import { CreateTasks } from '../sql/create-tasks.ts';
import type { FirstResponse, Idempotency } from '../sql/first-responses.ts';
import { ListTasks } from '../read/list-tasks.ts';
import type { NewTask } from '../sql/new-task.ts';
import type { PageRequest, TaskPage } from '../sql/page-of-tasks.ts';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import { tasksCreated } from '../queue/task-metrics.ts';
import type { TaskFilter } from '../record/task-filter.ts';
import { IdempotencyKey } from '../record/idempotency-key.entity.ts';
import { TaskQueue } from '../queue/task-queue.ts';
import { taskError } from '../record/task-error.ts';
import { FROM_API, type TaskOrigin } from '../record/task-origin.ts';
import { TaskFeed } from '../queue/task-feed.ts';
import { OpenWaits, untilFinal, type WaitOptions } from '../live/waits.ts';
import { WakeSignal } from '../queue/wake-signal.ts';

/** The tasks as clients use them: create, find, cancel. */
@Injectable()
export class TasksService {
  constructor(
    private readonly config: Config,
    private readonly creates: CreateTasks,
    private readonly sharedCreates: CreateSharedTasks,
    private readonly cached: CachedTasks,
    private readonly lists: ListTasks,
    private readonly queue: TaskQueue,
    private readonly feed: TaskFeed,
    private readonly wakeSignal: WakeSignal,
    private readonly newTasks: NewTasks,
    private readonly waits: OpenWaits,
    private readonly refusals: BudgetRefusals,
    @InjectRepository(IdempotencyKey) private readonly idempotencyKeys: Repository<IdempotencyKey>,
  ) {}

  /**
   * Stores the task, and the idempotency key if there is one, in one commit; then wakes the workers.
   * @param idempotencyOf gets the new task; returns the key, and the response that repeated requests get
   * @param origin its parent must be a task of the caller
   * @throws ApiError queue_full, budget_exceeded, idempotency_key_reused, idempotency_in_progress, service_unavailable
   */
  async create(
    caller: Caller,
    request: TaskRequest,
    idempotencyOf: ((task: ShownTask) => Omit<Idempotency, 'key_ttl_s'>) | null,
    origin: TaskOrigin = FROM_API,
  ): Promise<{ task: ShownTask; replayed: FirstResponse | null }> {
    const { task, row } = this.newTasks.make(caller, request, origin);
    const key_ttl_s = this.config.idempotencyTtlH * HOUR_S;
    const idempotency = idempotencyOf && { ...idempotencyOf(task), key_ttl_s };
    const replayed = await this.store(caller, row, idempotency).catch((error) => this.refusals.rethrow(error));
    if (replayed) return { task, replayed };
    traces.set({ 'darkroom.task.id': task.id });
    tasksCreated([task]);
    this.feed.publish([task]);
    this.wakeSignal.notify();
    return { task, replayed: null };
  }

  private store(caller: Caller, row: NewTask, idempotency: Idempotency | null): Promise<FirstResponse | null> {
    const above = countersAbove(caller);
    return above ? this.sharedCreates.create(row, above, idempotency) : this.creates.create(row, idempotency);
  }

  /**
   * The stored response to an earlier request with this key and this body; null if there is none, or if the key has
   * expired.
   */
  async firstResponse(
    apiKeyId: string,
    key: string,
    bodyHash: string,
  ): Promise<{ task_id: string; response: string } | null> {
    const first = await this.idempotencyKeys.findOneBy({ api_key_id: apiKeyId, key, expires_at: isAhead() });
    return first?.request_hash.toString('hex') === bodyHash ? first : null;
  }

  /**
   * Replaces the stored response of an idempotency key. A request with `Prefer: wait` needs this, because its answer is
   * known only after the task was stored.
   */
  async answeredWith(apiKeyId: string, key: string, taskId: string, json: string): Promise<void> {
    await this.idempotencyKeys.update({ api_key_id: apiKeyId, key, task_id: taskId }, { response: json });
  }

  /** @throws ApiError task_not_found, also for a malformed id and for another API key's task */
  find(apiKeyId: string, taskId: string): Promise<ShownTask> {
    return this.cached.findOfKey(apiKeyId, taskId);
  }

  /** A page of the tasks of an API key, for interfaces with lists of their own. */
  list(apiKeyId: string, filter: TaskFilter, page: PageRequest): Promise<TaskPage> {
    return this.lists.list(apiKeyId, filter, page);
  }

  /**
   * Like `find`, but waits until the task is final, has another sequence than a given `changedFrom`, or time is up.
   * Returns at once when the key has too many open waits, or when the service stops.
   */
  async findWhenFinal(
    apiKeyId: string,
    taskId: string,
    seconds: number,
    { changedFrom, gone }: { changedFrom?: number | undefined; gone?: AbortSignal | undefined } = {},
  ): Promise<ShownTask> {
    const wait = this.waits.start(apiKeyId, gone);
    if (wait === null) return this.find(apiKeyId, taskId);
    try {
      return await this.waitUntilFinal(apiKeyId, taskId, { seconds, changedFrom, over: wait.over });
    } finally {
      wait.close();
    }
  }

  /**
   * Like `findWhenFinal`, for requests whose waiting is limited elsewhere: the wait does not count as an open wait of
   * the key.
   */
  async waitUntilFinal(apiKeyId: string, taskId: string, options: WaitOptions): Promise<ShownTask> {
    const task = await untilFinal(this.feed, taskId, () => this.find(apiKeyId, taskId), options);
    this.cached.keep(task); // the client is about to fetch the files of the task
    return task;
  }

  /**
   * Cancels an unfinished task; a finished one stays unchanged.
   * @param unclaimed true: a task that a worker has claimed stays unchanged too
   */
  async cancel(
    apiKeyId: string,
    taskId: string,
    { unclaimed = false }: { unclaimed?: boolean } = {},
  ): Promise<{ task: ShownTask; cancelled: boolean }> {
    const current = await this.find(apiKeyId, taskId);
    if (isFinal(current.status)) return { task: current, cancelled: false };
    const ended = await this.queue.end({
      api_key_id: apiKeyId,
      id: taskId,
      attempt: null,
      unclaimed,
      outcome: { status: 'failed', error: taskError('task_cancelled') },
      resolution: current.input.resolution,
    });
    return ended ? { task: ended, cancelled: true } : { task: await this.find(apiKeyId, taskId), cancelled: false };
  }

  /** Reads a task of any API key, for signed links, which need no API key. */
  read(taskId: string): Promise<ShownTask | null> {
    return this.cached.find(taskId);
  }
}
