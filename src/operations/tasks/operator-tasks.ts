import { Injectable } from '@nestjs/common';
import type { Actor } from '../../auth/audit/actor.ts';
import type { AuditAction } from '../../auth/audit/audit-event.entity.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { catalog } from '../../models/catalog.ts';
import { UsualTimes } from '../../tasks/insight/usual-times.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import type { Suspicion, TaskSelection, WatchedTask } from './watched-task.ts';
import { type TaskErrorCode, taskError } from '../../tasks/record/task-error.ts';
import { isTaskId } from '../../tasks/record/task-id.ts';
import { isFinal } from '../../tasks/record/task.entity.ts';
import type { TaskMomentView } from '../../tasks/insight/timeline.view.ts';
import { TimelinesService } from '../../tasks/insight/timelines.service.ts';
import { UntakenDispatches } from '../../webhooks/deliveries/untaken-dispatches.ts';
import { type OperatorTaskView, toOperatorTaskView } from './operator-task.view.ts';
import type { TasksChangedView } from './operator-tasks.inputs.ts';
import { WatchTasks } from './sql/watch-tasks.ts';

/** The maximum number of tasks that one request may change. */
const MAX_CHANGED = 10_000;
/** Tasks are changed in batches of this size. */
const AT_ONCE = 200;
/** A run is suspicious after SUSPICIOUS_TIMES the usual time of its model, but never before LEAST_SUSPICIOUS_S. */
const SUSPICIOUS_TIMES = 2;
const LEAST_SUSPICIOUS_S = 30;

/** What an operator can do to tasks. */
export type TaskAct = { type: 'cancel' } | { type: 'release' } | { type: 'fail'; code: TaskErrorCode };

const ACTIONS = {
  cancel: 'tasks.cancelled',
  release: 'tasks.released',
  fail: 'tasks.failed',
} as const satisfies Record<TaskAct['type'], AuditAction>;

/**
 * The tasks of all keys. An act is written to the audit before its changes, so no change lacks an entry. The statements
 * of an act check the state of each task, so a task that ends at the same moment ends once.
 */
@Injectable()
export class OperatorTasks {
  constructor(
    private readonly rows: WatchTasks,
    private readonly times: UsualTimes,
    private readonly timelines: TimelinesService,
    private readonly queue: TaskQueue,
    private readonly untaken: UntakenDispatches,
    private readonly audit: AuditLog,
  ) {}

  /** Unfinished tasks, oldest first; in the state `stuck` also ended tasks whose webhook is overdue. */
  async list(
    selection: TaskSelection,
    { limit, after = null }: { limit: number; after?: string | null },
  ): Promise<{ tasks: OperatorTaskView[]; hasMore: boolean }> {
    const page = { limit: limit + 1, after };
    const found = await this.rows.list(selection, await this.suspicion(), page);
    const tasks =
      selection.state === 'stuck' ? [...found, ...(await this.withUntakenDispatch(selection, page))] : found;
    const inOrder = tasks.toSorted((one, other) => (one.id < other.id ? -1 : 1));
    return { tasks: inOrder.slice(0, limit).map(toOperatorTaskView), hasMore: inOrder.length > limit };
  }

  /** @throws ApiError task_not_found */
  async find(id: string): Promise<OperatorTaskView> {
    return toOperatorTaskView(await this.task(id));
  }

  /** @throws ApiError task_not_found */
  async timeline(id: string): Promise<TaskMomentView[]> {
    return (await this.timelines.ofAnyKey(id)) ?? unknownTask();
  }

  /**
   * A task that has ended stays as it is.
   * @throws ApiError task_not_found; task_not_running for the release of a task that is not running
   */
  async act(id: string, act: TaskAct, by: Actor): Promise<OperatorTaskView> {
    const before = await this.task(id);
    if (act.type === 'release' && before.status !== 'running') throw new ApiError('task_not_running');
    if (isFinal(before.status)) return toOperatorTaskView(before);
    const { status, attempt, worker_id } = before;
    await this.record(act, by, { id, before: { status, attempt, worker_id } });
    await this.perform([before], act);
    return this.find(id);
  }

  /** @throws ApiError invalid_value without a condition */
  async actOnMany(selection: TaskSelection, act: TaskAct, by: Actor): Promise<TasksChangedView> {
    if (Object.values(selection).every((value) => value === undefined || value === null)) {
      const message = 'filter must have a condition, so that nobody acts on all tasks by mistake.';
      throw new ApiError('invalid_value', { param: 'filter', message });
    }
    const tasks = await this.rows.list(selection, await this.suspicion(), { after: null, limit: MAX_CHANGED });
    await this.record(act, by, { id: 'filter', before: { filter: { ...selection }, matched: tasks.length } });
    const changed = await this.perform(tasks, act);
    return { object: 'tasks_changed', matched: tasks.length, changed };
  }

  private async withUntakenDispatch(
    { worker_id, provider, api_key_id, model }: TaskSelection,
    page: { after: string | null; limit: number },
  ): Promise<WatchedTask[]> {
    if (typeof worker_id === 'string') return []; // these tasks have all ended, so no process runs them
    const ids = await this.untaken.taskIds({ ...page, apiKeyId: api_key_id ?? null });
    const tasks = await this.rows.read(ids, await this.suspicion());
    return tasks
      .filter((task) => (model ?? task.model) === task.model && (provider ?? task.provider) === task.provider)
      .map((task) => ({ ...task, stuck: 'dispatch_untaken' }));
  }

  private async task(id: string): Promise<WatchedTask> {
    const [task] = isTaskId(id) ? await this.rows.read([id], await this.suspicion()) : [];
    return task ?? unknownTask();
  }

  /** @returns how many tasks were changed, without those that ended meanwhile */
  private async perform(tasks: readonly WatchedTask[], act: TaskAct): Promise<number> {
    let changed = 0;
    for (let from = 0; from < tasks.length; from += AT_ONCE) {
      const some = tasks.slice(from, from + AT_ONCE);
      changed +=
        act.type === 'release'
          ? await this.queue.takeAway(some.map(({ id }) => id))
          : await this.end(some, act.type === 'fail' ? act.code : 'task_cancelled');
    }
    return changed;
  }

  private async end(tasks: readonly WatchedTask[], code: TaskErrorCode): Promise<number> {
    const outcome = { status: 'failed', error: taskError(code) } as const;
    const ends = await Promise.allSettled(
      tasks.map(({ id, api_key_id }) => this.queue.end({ id, api_key_id, attempt: null, outcome })),
    );
    // Throws only when all have settled, so that no change happens after the response.
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    return ends.filter((end) => end.status === 'fulfilled' && end.value !== null).length;
  }

  private async suspicion(): Promise<Suspicion> {
    const usual = await Promise.all(
      catalog.models.map(async ({ id }) => ({ id, seconds: await this.times.ofModel(id) })),
    );
    const known = usual.filter((each): each is { id: string; seconds: number } => each.seconds !== null);
    return {
      models: known.map(({ id }) => id),
      seconds: known.map(({ seconds }) => Math.max(seconds * SUSPICIOUS_TIMES, LEAST_SUSPICIOUS_S)),
    };
  }

  private async record(act: TaskAct, by: Actor, { id, before }: { id: string; before: object }): Promise<void> {
    await this.audit.transaction(by, (_, record) =>
      record({
        action: ACTIONS[act.type],
        target: { type: 'tasks', id },
        before: { ...before },
        after: act.type === 'fail' ? { code: act.code } : {},
      }),
    );
  }
}

function unknownTask(): never {
  throw new ApiError('task_not_found', { param: 'task_id', message: 'No task has this id.' });
}
