import { Injectable } from '@nestjs/common';
import type { Actor } from '../../auth/audit/actor.ts';
import type { AuditAction } from '../../auth/audit/audit-event.entity.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { ApiError } from '../../errors/api-error.ts';
import { OperateTasks } from '../../tasks/operate/operate-tasks.service.ts';
import type { TaskSelection, WatchedTask } from '../../tasks/operate/watched-task.ts';
import type { TaskErrorCode } from '../../tasks/task-error.ts';
import { isFinal } from '../../tasks/task-status.ts';
import type { TaskMomentView } from '../../tasks/timeline/timeline.view.ts';
import { UntakenDispatches } from '../../webhooks/deliveries/untaken-dispatches.ts';
import { type OperatorTaskView, toOperatorTaskView } from './operator-task.view.ts';
import type { TasksChangedView } from './operator-tasks.inputs.ts';

/** Tasks that one request may change. */
const MAX_CHANGED = 10_000;

/** What an operator can do to tasks. */
export type TaskAct = { type: 'cancel' } | { type: 'release' } | { type: 'fail'; code: TaskErrorCode };

const ACTIONS = {
  cancel: 'tasks.cancelled',
  release: 'tasks.released',
  fail: 'tasks.failed',
} as const satisfies Record<TaskAct['type'], AuditAction>;

/** The tasks of all keys. The audit of an act is written first: no change is without one. */
@Injectable()
export class OperatorTasks {
  constructor(
    private readonly tasks: OperateTasks,
    private readonly untaken: UntakenDispatches,
    private readonly audit: AuditLog,
  ) {}

  /** Unfinished tasks, oldest first; in the state `stuck` also those whose webhook is not delivered. */
  async list(
    selection: TaskSelection,
    { limit, after = null }: { limit: number; after?: string | null },
  ): Promise<{ tasks: OperatorTaskView[]; hasMore: boolean }> {
    const page = { limit: limit + 1, after };
    const found = await this.tasks.list(selection, page);
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
    return (await this.tasks.timeline(id)) ?? unknownTask();
  }

  /**
   * A task that has ended stays as it is.
   * @throws ApiError task_not_found; task_not_running for the release of one that no worker has
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

  /** @throws ApiError missing_required_parameter without a condition */
  async actOnMany(selection: TaskSelection, act: TaskAct, by: Actor): Promise<TasksChangedView> {
    if (Object.values(selection).every((value) => value === undefined || value === null)) {
      const message = 'filter must have a condition: an act on all tasks must not be a mistake.';
      throw new ApiError('invalid_value', { param: 'filter', message });
    }
    const tasks = await this.tasks.list(selection, { after: null, limit: MAX_CHANGED });
    await this.record(act, by, { id: 'filter', before: { filter: { ...selection }, matched: tasks.length } });
    const changed = await this.perform(tasks, act);
    return { object: 'tasks_changed', matched: tasks.length, changed };
  }

  private async withUntakenDispatch(
    { worker_id, provider, api_key_id, model }: TaskSelection,
    page: { after: string | null; limit: number },
  ): Promise<WatchedTask[]> {
    if (typeof worker_id === 'string') return []; // no process runs them any more
    const tasks = await this.tasks.read(await this.untaken.taskIds({ ...page, apiKeyId: api_key_id ?? null }));
    return tasks
      .filter((task) => (model ?? task.model) === task.model && (provider ?? task.provider) === task.provider)
      .map((task) => ({ ...task, stuck: 'dispatch_untaken' }));
  }

  private async task(id: string): Promise<WatchedTask> {
    return (await this.tasks.find(id)) ?? unknownTask();
  }

  private perform(tasks: readonly WatchedTask[], act: TaskAct): Promise<number> {
    if (act.type === 'release') return this.tasks.release(tasks.map(({ id }) => id));
    return this.tasks.end(tasks, act.type === 'fail' ? act.code : 'task_cancelled');
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
