import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { Config } from '../../platform/config/config.ts';
import type { Tx } from '../../platform/database/sql.ts';
import { HOUR_S } from '../../platform/schema/time.ts';
import { BudgetRefusals } from './budget-refusals.ts';
import { TaskFeed } from '../queue/task-feed.ts';
import type { ReservedKey } from './idempotency.ts';
import { countersAbove, type MadeTask, NewTasks, type TaskRequest } from './new-tasks.ts';
import { TaskQueue } from '../queue/task-queue.ts';
import { WakeSignal } from '../queue/wake-signal.ts';
import { BatchTasks } from '../sql/batch-tasks.ts';
import { type PurgeHook, PurgeRows } from '../sql/purge-rows.ts';
import { CreateTaskBatch } from '../sql/create-task-batch.ts';
import { taskError } from '../record/task-error.ts';
import type { TaskOrigin } from '../record/task-origin.ts';
import { newTaskId } from '../record/task-id.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { tasksCreated } from '../queue/task-metrics.ts';

/** A batch item from which a task is made. */
export interface BatchItem {
  index: number;
  customId: string | null;
  request: TaskRequest;
  origin: TaskOrigin;
}

export interface NewBatch {
  id: string;
  /** Unix milliseconds by the database's clock; the id contains it. */
  createdMs: number;
  taskEvents: boolean;
  items: BatchItem[];
  /** The Idempotency-Key of the request, and the answer that repeated requests get. */
  idempotency: (ReservedKey & { response: string }) | null;
  /** Writes the record of the batch in the transaction that stores the tasks. */
  writeRecord: (tx: Tx) => Promise<unknown>;
}

/** The tasks of batches: created in one commit, read in the order of the batch, cancelled together. */
@Injectable()
export class TaskBatches {
  constructor(
    private readonly config: Config,
    private readonly newTasks: NewTasks,
    private readonly creates: CreateTaskBatch,
    private readonly rows: BatchTasks,
    private readonly purged: PurgeRows,
    private readonly queue: TaskQueue,
    private readonly feed: TaskFeed,
    private readonly wakeSignal: WakeSignal,
    private readonly refusals: BudgetRefusals,
  ) {}

  /** @param hook adds items to the counts of their batch, in the transaction that deletes the records of the items */
  registerPurgeHook(hook: PurgeHook): void {
    this.purged.registerHook(hook);
  }

  /** Unix milliseconds by the database's clock. */
  nowMs(): number {
    return this.newTasks.nowMs();
  }

  /**
   * Stores all the tasks and the record of the batch, or nothing.
   * @returns the tasks by the index of their item, or the first answer to a request with the same Idempotency-Key
   * @throws ApiError queue_full, budget_exceeded, idempotency_key_reused, idempotency_in_progress, service_unavailable
   */
  async create(caller: Caller, batch: NewBatch): Promise<{ tasks: Map<number, ShownTask>; replayed: string | null }> {
    const made = this.make(caller, batch);
    const { key, requestHash, response } = batch.idempotency ?? {};
    const stored = {
      id: batch.id,
      api_key_id: caller.apiKeyId,
      limits: caller.limits,
      above: countersAbove(caller),
      tasks: made.map(({ task, row }) => ({
        ...row,
        batch_id: batch.id,
        batch_index: task.batch_index!,
        custom_id: task.custom_id,
        task_events: batch.taskEvents,
      })),
      idempotency:
        key === undefined
          ? null
          : {
              idempotency_key: key,
              request_hash: requestHash!,
              response: response!,
              key_ttl_s: this.config.idempotencyTtlH * HOUR_S,
            },
      writeRecord: batch.writeRecord,
    };
    const first = await this.creates.create(stored).catch((error) => this.refusals.rethrow(error));
    if (first) return { tasks: new Map(), replayed: first.response };
    const tasks = made.map(({ task }) => task);
    tasksCreated(tasks);
    this.feed.publish(tasks);
    if (tasks.length > 0) this.wakeSignal.notify();
    return { tasks: new Map(tasks.map((task) => [task.batch_index!, task])), replayed: null };
  }

  /** @throws ApiError idempotency_key_reused */
  async firstAnswer({ apiKeyId }: Caller, { key, requestHash }: ReservedKey): Promise<string | null> {
    const request = { idempotency_key: key, request_hash: requestHash };
    return (await this.creates.firstResponse({ api_key_id: apiKeyId }, request))?.response ?? null;
  }

  /**
   * Final tasks in the order of the batch; deleted and expired ones are left out.
   * @param after index of the last item of the previous page
   */
  finalTasks(batchId: string, after: number, limit: number): Promise<ShownTask[]> {
    return this.rows.finalTasks(batchId, after, limit);
  }

  /** Cancels the unfinished tasks of the batch. A task that ends meanwhile keeps its outcome. */
  async cancel(batchId: string): Promise<void> {
    const outcome = { status: 'failed' as const, error: taskError('task_cancelled') };
    const unfinished = await this.rows.unfinished(batchId);
    const ends = await Promise.allSettled(
      unfinished.map((task) => this.queue.end({ ...task, attempt: null, outcome })),
    );
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed) throw failed.reason;
  }

  /**
   * Makes the tasks of a batch. Their ids rise with the index, so that claims and lists have the tasks in the order of
   * the items.
   */
  private make(caller: Caller, { id, createdMs, items }: NewBatch): MadeTask[] {
    const ids = items.map(() => newTaskId(createdMs)).toSorted();
    return items.map(({ index, customId, request, origin }, at) => {
      const { task, row } = this.newTasks.make(caller, request, origin, createdMs);
      const place = { id: ids[at]!, batch_id: id, batch_index: index, custom_id: customId };
      return { task: { ...task, ...place }, row: { ...row, id: place.id } };
    });
  }
}
