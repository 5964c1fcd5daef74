import { Injectable, Logger } from '@nestjs/common';
import { findModel } from '../../models/catalog.ts';
import { imageUrlsOf } from '../../models/image-urls.ts';
import type { Model } from '../../models/model.ts';
import type { ClaimedTask } from '../../tasks/sql/claim-tasks.ts';
import type { Ending } from '../../tasks/sql/end-tasks.ts';
import { RenewLeases } from '../../tasks/sql/renew-leases.ts';
import type { StoredOutput } from '../../tasks/task.entity.ts';
import { TaskEnds } from '../../tasks/queue/task-ends.ts';
import { type TaskError, taskError } from '../../tasks/task-error.ts';
import { TaskFeed } from '../../tasks/live/task-feed.ts';
import { WakeSignal } from '../../tasks/queue/wake-signal.ts';
import { ProviderError, type ProviderRequest, type ResolvedInput, type StopReason } from '../../providers/provider.ts';
import { ReferenceImages } from '../images/reference-images.ts';
import { type Lease, LeaseLost, RunningTasks } from './running-tasks.ts';
import { ServeGeneration } from './serve-generation.ts';
import { StoreOutputs } from './store-outputs.ts';
import { retryWhileDatabaseDown } from './retry-while-database-down.ts';
import { withoutPrompt } from './without-prompt.ts';

type Outcome = Ending['outcome'];

/** A claimed task: reference images -> provider -> storage -> end. What goes wrong on the way ends it with its code. */
@Injectable()
export class GenerateWorker {
  private readonly logger = new Logger('generate');

  constructor(
    private readonly leases: RenewLeases,
    private readonly running: RunningTasks,
    private readonly serving: ServeGeneration,
    private readonly referenceImages: ReferenceImages,
    private readonly outputs: StoreOutputs,
    private readonly ends: TaskEnds,
    private readonly feed: TaskFeed,
    private readonly bell: WakeSignal,
  ) {}

  /** @param shutdown aborts when this process has to let go of what it could not finish */
  async work(task: ClaimedTask, shutdown: AbortSignal): Promise<void> {
    this.feed.publish([task]);
    await this.running.run(task, shutdown, async (held) => {
      const outcome = await this.outcomeOf(task, held);
      if (outcome) await this.end(task, held, outcome);
      if (held.signal.reason === 'shutdown') await this.handOver(held);
    });
  }

  /** null when there is nothing to say: cancelled, lost, or handed over. */
  private async outcomeOf(task: ClaimedTask, held: Lease): Promise<Outcome | null> {
    try {
      return { status: 'succeeded', result: await this.generate(task, held) };
    } catch (error) {
      if (held.signal.aborted) return afterStop(held.signal.reason as StopReason);
      if (error instanceof LeaseLost) return null;
      const failure = failureOf(error);
      this.logger[failure.code === 'internal_error' ? 'error' : 'warn']({
        event: 'task.run_failed',
        task_id: task.id,
        model: task.model,
        provider: task.provider, // the one asked last
        credential: task.credential,
        code: failure.code,
        cause: error instanceof ProviderError ? (withoutPrompt(error.cause, task.input.prompt) ?? error) : error,
      });
      return { status: 'failed', error: failure };
    }
  }

  private async generate(task: ClaimedTask, held: Lease): Promise<StoredOutput[]> {
    const model = findModel(task.model);
    if (!model) throw new ProviderError('provider_rejected', { message: 'This model is not served any more.' });
    const bare = {
      taskId: task.id,
      model: task.model,
      kind: task.kind,
      input: task.input as unknown as ResolvedInput,
    };
    return this.serving.serve(
      task,
      held,
      bare,
      () => this.fetchImages(task, model, held.signal),
      (outputs) => this.outputs.store(held, outputs),
    );
  }

  private async fetchImages(task: ClaimedTask, model: Model, signal: AbortSignal): Promise<ProviderRequest['images']> {
    const fields = imageUrlsOf(model, task.input);
    const images = fields.length > 0 ? await this.referenceImages.fetchAll(fields, signal) : [];
    const firstFrameAt = fields.findIndex(({ param }) => param === 'first_frame_image_url');
    return {
      references: images.filter((_, at) => at !== firstFrameAt),
      firstFrame: images[firstFrameAt] ?? null,
    };
  }

  /**
   * This process is shutting down: another takes the task over, and it counts as no loss. At once, unless a paid call is out:
   * a successor would not find its job yet, and buy another.
   */
  private async handOver(held: Lease): Promise<void> {
    const released = await this.leases.release([held], !held.isCalling);
    if (released.length === 0 || held.isCalling) return;
    this.bell.notify();
    this.logger.log({ event: 'task.handed_over', task_id: held.id });
  }

  private async end(task: ClaimedTask, held: Lease, outcome: Outcome): Promise<void> {
    try {
      const write = () => this.ends.end({ id: task.id, api_key_id: task.api_key_id, attempt: held.attempt, outcome });
      const ended = await retryWhileDatabaseDown(() => !hasNoSay(held), write);
      if (!ended) this.logger.warn({ event: 'lease_lost', task_id: held.id, attempt: held.attempt });
    } catch (err) {
      this.logger.error({ event: 'task.end_failed', task_id: held.id, err });
      if (hasNoSay(held) || outcome.status === 'failed') return; // the deadline has the last word
      await this.end(task, held, { status: 'failed', error: taskError('internal_error') });
    }
  }
}

/** Stopped for a reason that leaves the last word to others. */
const hasNoSay = (held: Lease): boolean => held.signal.aborted && held.signal.reason !== 'deadline';

function afterStop(reason: StopReason): Outcome | null {
  return reason === 'deadline' ? { status: 'failed', error: taskError('task_deadline_exceeded') } : null;
}

function failureOf(error: unknown): TaskError {
  if (!(error instanceof ProviderError)) return taskError('internal_error');
  return taskError(error.code, { message: error.message, ...(error.param ? { param: error.param } : {}) });
}
