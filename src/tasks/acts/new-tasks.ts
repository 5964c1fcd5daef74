import { Injectable } from '@nestjs/common';
import type { Caller, CallerBound } from '../../auth/access/caller.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import { Config } from '../../platform/config/config.ts';
import { currentRequest } from '../../platform/observe/logging/request-context.ts';
import { DAY_MS, DAY_S } from '../../platform/schema/time.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import { DatabaseClock } from '../queue/database-clock.ts';
import { UsualTimes } from '../insight/usual-times.ts';
import { runKindOf } from '../record/run-kind.ts';
import type { NewTask } from '../sql/new-task.ts';
import { newTaskId } from '../record/task-id.ts';
import type { Approximation, ShownTask } from '../record/task.entity.ts';
import type { TaskOrigin } from '../record/task-origin.ts';
import type { TaskPriority } from '../record/task-priority.ts';
import { deadlineS } from '../../models/definition/model.ts';

export interface TaskRequest {
  kind: MediaKind;
  model: string;
  /** The version of the model as it is loaded now. */
  modelVersion: string;
  input: object;
  metadata: Record<string, string>;
  /** normal when left out. */
  priority?: TaskPriority | undefined;
  /** What an OpenAI-compatible route has approximated in the request, before any provider was asked. */
  approximations?: Approximation[] | undefined;
  /** Returns the micro-units that the task may cost. Called only for an API key with a budget. */
  estimate: () => number;
}

/** A task that is not stored yet: as clients see it, and as the row to insert. */
export interface MadeTask {
  task: ShownTask;
  row: NewTask;
}

@Injectable()
export class NewTasks {
  constructor(
    private readonly config: Config,
    private readonly clock: DatabaseClock,
    private readonly times: UsualTimes,
  ) {}

  /** Unix milliseconds by the database's clock. */
  nowMs(): number {
    return this.clock.nowMs();
  }

  make(caller: Caller, request: TaskRequest, origin: TaskOrigin, nowMs = this.nowMs()): MadeTask {
    const task = this.shown(caller, request, origin, nowMs);
    const row = {
      ...task,
      source: origin.source === 'api' ? undefined : origin.source,
      partial_images: origin.partialImages || undefined,
      created_at: task.created_at.getTime(),
      expires_at: task.expires_at.getTime(),
      low: task.low || undefined,
      run_ms: this.times.knownMs(runKindOf(task)),
      ...deadlinesOf(task, this.config, caller.limits.taskRetentionDays),
      file_retention_s: this.ownFileRetentionS(caller),
      trace_parent: traces.link() ?? null,
      estimate_micros: caller.hasBudget ? request.estimate() : undefined,
      limits: caller.limits,
      counts_for: countersAbove(caller)?.map(({ apiKeyId }) => apiKeyId),
    };
    return { task, row };
  }

  /** Seconds; null if the configured retention applies, as for nearly every key. */
  private ownFileRetentionS({ limits }: Caller): number | null {
    return limits.fileRetentionDays < this.config.fileRetentionDays ? limits.fileRetentionDays * DAY_S : null;
  }

  private shown(caller: Caller, request: TaskRequest, origin: TaskOrigin, nowMs: number): ShownTask {
    const { kind, model, modelVersion, input, metadata, priority, approximations } = request;
    return {
      id: newTaskId(nowMs),
      api_key_id: caller.apiKeyId,
      kind,
      model,
      model_version: modelVersion,
      status: 'queued',
      progress: 0,
      sequence: 1,
      input: input as Record<string, unknown>,
      metadata,
      created_at: new Date(nowMs),
      started_at: null,
      completed_at: null,
      expires_at: new Date(nowMs + caller.limits.taskRetentionDays * DAY_MS),
      source: origin.source,
      low: priority === 'low',
      parent_task_id: origin.parent,
      relation: origin.relation,
      batch_id: null,
      batch_index: null,
      custom_id: null,
      task_events: true,
      request_id: currentRequest.getStore()?.id ?? null,
      attempt: 0,
      approximations: null,
      request_approximations: approximations?.length ? approximations : null,
      result: null,
      error: null,
      files_expire_at: null,
      submits: 0,
      usage: null,
      kept_at: null,
      collection: null,
    };
  }
}

/**
 * The keys above this one (its maker, the maker of that one and so on) whose limits or budgets count its tasks.
 * undefined if there are none.
 */
export function countersAbove({ bounds }: Caller): CallerBound[] | undefined {
  const above = bounds?.filter(({ limits, hasBudget }) => hasBudget || limits.maxRunning || limits.maxQueued);
  return above?.length ? above : undefined;
}

type Settings = Pick<Config, 'taskDeadlineImageS' | 'taskDeadlineVideoS' | 'lowDeadlineS' | 'taskRetentionDays'>;

/**
 * How long a new task may wait, and how long it may run. Tasks of low priority and of batches may wait longer, but not
 * longer than their record is kept. For any other task, each of the two times is `deadline_s`, and `run_deadline_s` is
 * absent.
 * @param retentionDays how long the record is kept; the configured time if the API key is not known
 */
export function deadlinesOf(
  { kind, low, source }: Pick<ShownTask, 'kind' | 'low' | 'source'>,
  config: Settings,
  retentionDays = config.taskRetentionDays,
): Pick<NewTask, 'deadline_s' | 'run_deadline_s'> {
  const run_deadline_s = deadlineS(kind, config);
  if (!low && source !== 'batch') return { deadline_s: run_deadline_s };
  const longest = Math.min(config.lowDeadlineS, retentionDays * DAY_S);
  return { deadline_s: Math.max(longest, run_deadline_s), run_deadline_s };
}
