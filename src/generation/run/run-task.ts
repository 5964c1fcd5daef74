import { Injectable, Logger } from '@nestjs/common';
import { catalog } from '../../models/catalog.ts';
import { resolutionOf } from '../../models/definition/sizes.ts';
import type { Model } from '../../models/definition/model.ts';
import { ModelVersions } from '../../models/versions/model-versions.ts';
import { activeSpan } from '../../platform/observe/traces/span.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import { ProviderError, type ProviderOutput, type StopReason } from '../../providers/contract/provider.ts';
import type { Ending } from '../../tasks/record/ending.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import type { StoredOutput } from '../../tasks/record/task.entity.ts';
import { type TaskError, taskError, type TaskErrorCode } from '../../tasks/record/task-error.ts';
import type { RunUsage } from '../../tasks/record/task-usage.ts';
import { takesUnchanged } from '../accept/parse-generation.ts';
import { ReferenceImages } from '../images/reference-images.ts';
import { ScratchBudget } from '../images/scratch-budget.ts';
import { conversionOf } from '../images/image-conversions.ts';
import { MustWait, waitForProvider } from './must-wait.ts';
import type { Slot } from './slots.ts';
import { type Lease, LeaseLost, retryWhileDatabaseDown, RunningTasks } from './running-tasks.ts';
import { RunImages } from './run-images.ts';
import { inStage } from './run-stages.ts';
import { type Served, ServeGeneration } from './serve-generation.ts';
import { StoreOutputs } from './store-outputs.ts';
import { withoutPrompt } from './without-prompt.ts';

type Outcome = Pick<Ending, 'outcome' | 'usage'>;

/** Log levels of failures that concern the operator. All other failures have the level `log`. */
const LEVELS: Partial<Record<TaskErrorCode, 'error' | 'warn'>> = {
  internal_error: 'error',
  result_storage_failed: 'error',
  provider_quota_exceeded: 'warn', // the provider refuses every task until the operator pays
};

/**
 * Runs a claimed task: reference images -> provider -> storage -> end. An error on the way ends the task with its code,
 * unless the task must wait or the run was stopped.
 */
@Injectable()
export class RunTask {
  private readonly logger = new Logger('generate');

  constructor(
    private readonly queue: TaskQueue,
    private readonly running: RunningTasks,
    private readonly serving: ServeGeneration,
    private readonly referenceImages: ReferenceImages,
    private readonly budget: ScratchBudget,
    private readonly outputs: StoreOutputs,
    private readonly versions: ModelVersions,
  ) {}

  /** @param shutdown aborts when this process must give up its unfinished tasks */
  async run(task: ClaimedTask, slot: Slot, shutdown: AbortSignal): Promise<void> {
    await this.running.run(task, { slot, shutdown }, async (lease) => {
      const outcome = await this.outcomeOf(task, lease);
      if (outcome instanceof MustWait) await this.postpone(lease, outcome);
      else if (outcome) await this.end(task, lease, outcome);
      if (lease.signal.reason === 'shutdown') await this.release(lease);
    });
  }

  /**
   * @returns null when this claim has nothing to record: the task is final, was taken over, or is about to be released
   */
  private async outcomeOf(task: ClaimedTask, lease: Lease): Promise<Outcome | MustWait | null> {
    try {
      const { kept, usage } = await this.generate(task, lease);
      return { outcome: { status: 'succeeded', result: kept }, usage };
    } catch (error) {
      if (lease.signal.aborted) return afterStop(lease);
      if (error instanceof LeaseLost) return null;
      if (error instanceof MustWait) return error;
      const failure = failureOf(error);
      activeSpan()?.fail(failure.code);
      this.logger[LEVELS[failure.code] ?? 'log']({
        event: 'task.run_failed',
        task_id: task.id,
        model: task.model,
        provider: task.provider, // the last provider called
        credential: task.credential,
        code: failure.code,
        cause: error instanceof ProviderError ? (withoutPrompt(error.cause, task.input.prompt) ?? error) : error,
      });
      const billing = error instanceof ProviderError && error.billing === 'charged' ? 'charged' : 'unknown';
      return failed(failure, { billing });
    }
  }

  /**
   * The model in the version that the task runs under; null if no version is left. On its first start, a task gets the
   * loaded version if that version takes the input of the task unchanged. Otherwise the task keeps its own version, or
   * gets the loaded version if its own is no longer stored.
   */
  private async modelOf(task: ClaimedTask, lease: Lease): Promise<Model | null> {
    const { model: id, model_version: version } = task;
    const loaded = catalog.loaded(id);
    if (loaded && (version === null || version === loaded.version)) return loaded;
    const isFirstStart = task.attempt === 1 && task.submitted_at === null;
    if (loaded && isFirstStart && takesUnchanged(loaded, task.input)) {
      await this.queue.runsUnder(lease, loaded.version);
      return loaded;
    }
    const kept = version === null ? null : await this.versions.find(id, version);
    return kept ?? loaded ?? null;
  }

  private async generate(task: ClaimedTask, lease: Lease): Promise<Served<StoredOutput[]>> {
    const model = await this.modelOf(task, lease);
    if (!model) throw new ProviderError('provider_rejected', { message: 'This model is not served any more.' });
    if (task.submitted_at === null && this.outputs.isFailing) throw waitForProvider(task, undefined);
    const { referenceImages, budget } = this;
    const images = new RunImages(task, model, lease.signal, { referenceImages, budget });
    try {
      const keep = (outputs: ProviderOutput[], seeds: readonly number[]) =>
        traces.span('store', {}, async (span) => {
          const stored = await this.outputs.store(lease, outputs, {
            model: task.model,
            conversion: conversionOf(task),
            seeds,
          });
          span?.set({ 'darkroom.bytes': stored.reduce((sum, { size_bytes }) => sum + size_bytes, 0) });
          return stored;
        });
      return await this.serving.serve({ task, model, lease, images, keep });
    } finally {
      await images.release();
    }
  }

  /**
   * Gives the task back on shutdown. This does not count as a lost worker. Another worker may claim the task at once,
   * unless a paid call is in flight: the job of that call cannot be found yet, so the other worker would pay a second
   * time.
   */
  private async release(lease: Lease): Promise<void> {
    const released = await this.queue.release(lease, lease.isCalling ? null : 0);
    if (released && !lease.isCalling) this.logger.log({ event: 'task.released', task_id: lease.id });
  }

  /**
   * Gives the task back for the time that it must wait. Meanwhile the task takes no slot, and nobody renews its lease.
   */
  private async postpone(lease: Lease, { seconds, reason }: MustWait): Promise<void> {
    await retryWhileDatabaseDown(
      () => !lease.signal.aborted,
      () => this.queue.release(lease, seconds, reason),
    );
  }

  private async end(task: ClaimedTask, lease: Lease, outcome: Outcome): Promise<void> {
    try {
      const { id, api_key_id, model, input } = task;
      const resolution = resolutionOf(catalog.find(model)?.sizes ?? {}, input);
      const moments = lease.moments.unwritten;
      const ending = { id, api_key_id, attempt: lease.attempt, resolution, moments, ...outcome };
      const write = () => this.queue.end(ending);
      const retried = () => retryWhileDatabaseDown(() => !isRevoked(lease), write);
      const ended = await inStage('end', task.kind, () =>
        traces.span('end', { attributes: { 'darkroom.task.status': outcome.outcome.status } }, retried),
      );
      if (!ended) this.logger.warn({ event: 'lease.lost', task_id: lease.id, attempt: lease.attempt });
    } catch (err) {
      this.logger.error({ event: 'task.end_failed', task_id: lease.id, err });
      if (isRevoked(lease) || outcome.outcome.status === 'failed') return; // the sweep ends the task at its deadline
      await this.end(task, lease, failed(taskError('internal_error'), { billing: 'unknown' }));
    }
  }
}

/** Whether the run was stopped for a reason that leaves the outcome of the task to others. */
const isRevoked = (lease: Lease): boolean => lease.signal.aborted && lease.signal.reason !== 'deadline';

function afterStop({ signal, isCancelledUnrun }: Lease): Outcome | null {
  if (signal.reason !== ('deadline' satisfies StopReason)) return null;
  return failed(taskError('task_deadline_exceeded'), { cancelled_unrun: isCancelledUnrun });
}

function failed(error: TaskError, usage: Partial<RunUsage>): Outcome {
  const unknown: RunUsage = { provider: null, price: null, tokens: null, billing: null, cancelled_unrun: false };
  return { outcome: { status: 'failed', error }, usage: { ...unknown, ...usage } };
}

function failureOf(error: unknown): TaskError {
  if (!(error instanceof ProviderError)) return taskError('internal_error');
  return taskError(error.code, { message: error.message, ...(error.param ? { param: error.param } : {}) });
}
