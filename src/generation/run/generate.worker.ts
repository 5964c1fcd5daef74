import { Injectable, Logger } from '@nestjs/common';
import { rm } from 'node:fs/promises';
import { findModel } from '../../models/catalog.ts';
import { type ImageUrl, imageUrlsOf } from '../../models/image-urls.ts';
import { ProviderError, type ProviderRequest, type StopReason } from '../../providers/provider.ts';
import type { Ending } from '../../tasks/queue/ending.ts';
import type { ClaimedTask } from '../../tasks/queue/lease.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import type { StoredOutput } from '../../tasks/task.entity.ts';
import { type TaskError, taskError } from '../../tasks/task-error.ts';
import { ReferenceImages } from '../images/reference-images.ts';
import { MustWait, waitForProvider } from './must-wait.ts';
import { retryWhileDatabaseDown } from './retry-while-database-down.ts';
import { type Lease, LeaseLost, RunningTasks } from './running-tasks.ts';
import { makeScratch } from './scratch.ts';
import { ServeGeneration } from './serve-generation.ts';
import { StoreOutputs } from './store-outputs.ts';
import { withoutPrompt } from './without-prompt.ts';

type Outcome = Ending['outcome'];

/** Runs a claimed task: reference images -> provider -> storage -> end. A failure on the way ends the task with its code. */
@Injectable()
export class GenerateWorker {
  private readonly logger = new Logger('generate');

  constructor(
    private readonly queue: TaskQueue,
    private readonly running: RunningTasks,
    private readonly serving: ServeGeneration,
    private readonly referenceImages: ReferenceImages,
    private readonly outputs: StoreOutputs,
  ) {}

  /** @param shutdown aborts when this process must give up its unfinished tasks */
  async work(task: ClaimedTask, shutdown: AbortSignal): Promise<void> {
    await this.running.run(task, shutdown, async (lease) => {
      const outcome = await this.outcomeOf(task, lease);
      if (outcome instanceof MustWait) await this.postpone(lease, outcome);
      else if (outcome) await this.end(task, lease, outcome);
      if (lease.signal.reason === 'shutdown') await this.release(lease);
    });
  }

  /** @returns null when this claim has nothing to record: the task was cancelled, taken over or is about to be released */
  private async outcomeOf(task: ClaimedTask, lease: Lease): Promise<Outcome | MustWait | null> {
    try {
      return { status: 'succeeded', result: await this.generate(task, lease) };
    } catch (error) {
      if (lease.signal.aborted) return afterStop(lease.signal.reason as StopReason);
      if (error instanceof LeaseLost) return null;
      if (error instanceof MustWait) return error;
      const failure = failureOf(error);
      this.logger[failure.code === 'internal_error' ? 'error' : 'warn']({
        event: 'task.run_failed',
        task_id: task.id,
        model: task.model,
        provider: task.provider, // the last one called
        credential: task.credential,
        code: failure.code,
        cause: error instanceof ProviderError ? (withoutPrompt(error.cause, task.input.prompt) ?? error) : error,
      });
      return { status: 'failed', error: failure };
    }
  }

  private async generate(task: ClaimedTask, lease: Lease): Promise<StoredOutput[]> {
    const model = findModel(task.model);
    if (!model) throw new ProviderError('provider_rejected', { message: 'This model is not served any more.' });
    if (task.submitted_at === null && this.outputs.isFailing) throw waitForProvider(task, undefined);
    const fields = imageUrlsOf(model, task.input);
    const folder = fields.length > 0 ? makeScratch() : null;
    try {
      return await this.serving.serve(
        task,
        lease,
        () => this.fetchImages(fields, { apiKeyId: task.api_key_id, folder, signal: lease.signal }),
        (outputs) => this.outputs.store(lease, outputs),
      );
    } finally {
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    }
  }

  private async fetchImages(
    fields: ImageUrl[],
    { folder, ...options }: { apiKeyId: string; folder: string | null; signal: AbortSignal },
  ): Promise<ProviderRequest['images']> {
    const images = folder === null ? [] : await this.referenceImages.fetchAll(fields, { ...options, folder });
    const firstFrameAt = fields.findIndex(({ param }) => param === 'first_frame_image_url');
    return {
      references: images.filter((_, at) => at !== firstFrameAt),
      firstFrame: images[firstFrameAt] ?? null,
    };
  }

  /**
   * Gives the task back on shutdown, without counting a lost worker. Another worker may claim it at once, unless a paid
   * call is in flight: the successor could not find its job yet and would pay for a second one.
   */
  private async release(lease: Lease): Promise<void> {
    const released = await this.queue.release(lease, lease.isCalling ? null : 0);
    if (released && !lease.isCalling) this.logger.log({ event: 'task.released', task_id: lease.id });
  }

  /** Gives the task back until its provider may be free: meanwhile it has no place, no memory and no lease. */
  private async postpone(lease: Lease, { seconds }: MustWait): Promise<void> {
    await retryWhileDatabaseDown(
      () => !lease.signal.aborted,
      () => this.queue.release(lease, seconds),
    );
  }

  private async end(task: ClaimedTask, lease: Lease, outcome: Outcome): Promise<void> {
    try {
      const write = () => this.queue.end({ id: task.id, api_key_id: task.api_key_id, attempt: lease.attempt, outcome });
      const ended = await retryWhileDatabaseDown(() => !isRevoked(lease), write);
      if (!ended) this.logger.warn({ event: 'lease.lost', task_id: lease.id, attempt: lease.attempt });
    } catch (err) {
      this.logger.error({ event: 'task.end_failed', task_id: lease.id, err });
      if (isRevoked(lease) || outcome.status === 'failed') return; // the sweep ends the task at its deadline
      await this.end(task, lease, { status: 'failed', error: taskError('internal_error') });
    }
  }
}

/** The run was stopped for a reason that leaves the outcome of the task to others. */
const isRevoked = (lease: Lease): boolean => lease.signal.aborted && lease.signal.reason !== 'deadline';

function afterStop(reason: StopReason): Outcome | null {
  return reason === 'deadline' ? { status: 'failed', error: taskError('task_deadline_exceeded') } : null;
}

function failureOf(error: unknown): TaskError {
  if (!(error instanceof ProviderError)) return taskError('internal_error');
  return taskError(error.code, { message: error.message, ...(error.param ? { param: error.param } : {}) });
}
