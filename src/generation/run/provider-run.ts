import { Logger } from '@nestjs/common';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import type { LinkedImages } from '../../files/images/linked-images.ts';
import { announcesJob } from '../../providers/jobs/run-jobs.ts';
import { type InputImage, ProviderError, type Run } from '../../providers/contract/provider.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { Submission } from '../../tasks/record/submission.ts';
import type { TaskQueue } from '../../tasks/queue/task-queue.ts';
import type { RunUsage, Tokens } from '../../tasks/record/task-usage.ts';
import { type Lease, retryWhileDatabaseDown } from './running-tasks.ts';
import { waitForPlace, waitForProvider } from './must-wait.ts';
import { makeScratch, removeScratch } from '../../platform/run/scratch.ts';
import { conversionOf } from '../images/image-conversions.ts';
import type { PartialImages } from './partial-images.ts';
import type { ImageSource } from './run-images.ts';
import { RunStages } from './run-stages.ts';

/** The longest that a run waits for its partial images to be stored. */
const STORING_MS = 5_000;
/** The progress that a provider reports is written at most four times a second. */
const PROGRESS_MS = 250;

interface Services {
  queue: TaskQueue;
  partials: PartialImages;
  images: ImageSource;
  links: Pick<LinkedImages, 'link'>;
}

/**
 * The run of one claim of a task at one provider. Every write names the claim, so a run that has lost its claim changes
 * nothing.
 */
export class ProviderRun implements Run {
  private readonly logger = new Logger('run');
  private newest: number;
  private written: number;
  private timer: NodeJS.Timeout | null = null;
  private directory: string | null = null;
  private reported: Tokens | null = null;
  /** Partial images made so far, of those that were requested. */
  private partials = 0;
  /** Partial images are stored one after the other, so that they appear in order. */
  private storing = Promise.resolve();
  /**
   * Whether an intent to make a paid call is recorded in the database, by this run or by an earlier one of the task.
   */
  private hasIntent: boolean;
  /** Whether the run polls a job that an earlier claim has submitted. The price is then that of the earlier claim. */
  private readonly continues: boolean;
  /** The number of calls that made nothing and may have been charged, while other calls of the run made pictures. */
  private unknownCalls = 0;
  /**
   * Has an entry if fewer pictures were made than requested. The intent lacks this entry, because the intent is
   * recorded before the call.
   */
  private lacking: Approximation[] = [];
  /** The seed that was sent for each output; empty if none was sent. */
  sentSeeds: readonly number[] = [];
  readonly stages: RunStages;

  constructor(
    private readonly task: ClaimedTask,
    private readonly lease: Lease,
    private readonly submission: Submission,
    private readonly services: Services,
  ) {
    this.stages = new RunStages(task, lease.moments.nowMs, submission.provider);
    this.newest = task.progress;
    this.written = task.progress;
    this.hasIntent = task.submitted_at !== null;
    this.continues = task.upstream_id !== null;
  }

  get signal(): AbortSignal {
    return this.lease.signal;
  }

  get upstreamId(): string | null {
    return this.task.upstream_id;
  }

  get submittedBefore(): boolean {
    return this.task.submitted_at !== null;
  }

  /** What the worker knows of the cost of this run, when it ends in success. */
  get usage(): RunUsage {
    const { provider } = this.submission;
    const price = this.continues ? this.task.price : this.submission.price;
    const tokens = this.reported;
    return { provider, price, tokens, billing: null, unknown_calls: this.unknownCalls, cancelled_unrun: false };
  }

  get partialImages(): number {
    const { n = 1 } = this.task.input as { n?: number };
    return this.task.kind === 'image' && n === 1 ? this.task.partial_images : 0;
  }

  /** The folder is created on first use, because most runs never need one. */
  get scratchDir(): string {
    this.directory ??= makeScratch();
    return this.directory;
  }

  /** The progress is capped at 99, because a task is at 100 only when its files are stored. */
  progress(percent: number): void {
    // `>` is false for NaN, so NaN is ignored. No later percentage could replace a stored NaN.
    if (percent > this.newest) this.newest = Math.min(99, Math.floor(percent));
    if (this.newest > this.written) this.timer ??= setTimeout(() => void this.writeProgress(), PROGRESS_MS);
  }

  tokens({ input, output }: Tokens): void {
    this.reported = { input: (this.reported?.input ?? 0) + input, output: (this.reported?.output ?? 0) + output };
  }

  partialImage(image: Buffer): void {
    const nth = this.partials;
    if (nth >= this.partialImages) return;
    this.partials += 1;
    this.storing = this.storing.then(() => this.storePartial(nth, image));
  }

  /** Waits until the partial images are stored, for five seconds at most. Call when the provider is done. */
  async partialImagesStored(): Promise<void> {
    if (this.partials === 0) return;
    const over = new AbortController();
    await Promise.race([
      this.storing,
      sleep(STORING_MS, undefined, { signal: AbortSignal.any([over.signal, this.signal]) }).catch(() => undefined),
    ]);
    over.abort();
  }

  assertHeld(): Promise<void> {
    return this.write(() => this.lease.assertHeld());
  }

  async submitting(): Promise<void> {
    this.assertMayBuy();
    const intent = await this.write(() => this.services.queue.submitIntent(this.lease, this.submission));
    if (intent === 'lost') throw await this.lease.whyRevoked();
    if (intent === 'full') throw waitForPlace(this.task);
    this.hasIntent = true;
    this.stages.submitting(this.submission);
    this.task.provider = this.submission.provider;
    this.task.credential = this.submission.credential;
    this.lease.isCalling = true;
  }

  async callingAgain(): Promise<void> {
    this.assertMayBuy();
    if (!(await this.write(() => this.services.queue.calledAgain(this.lease)))) throw await this.lease.whyRevoked();
  }

  fewer(made: number, unknown: number): void {
    const { n = 1 } = this.task.input as { n?: number };
    this.lacking = [{ param: 'n', requested: n, used: made }];
    this.unknownCalls = unknown;
  }

  seeds(ofOutputs: readonly number[]): void {
    this.sentSeeds = ofOutputs;
  }

  async submitted(upstreamId: string, requestId: string | null = null): Promise<void> {
    if (announcesJob(upstreamId)) this.assertMayBuy();
    this.stages.accepted();
    this.task.upstream_id = upstreamId; // set before the write, which may fail, because a cancel needs the job's id
    const held = await this.write(() =>
      this.services.queue.submitAccepted(this.lease, upstreamId, requestId, this.submission),
    );
    if (!held) throw await this.lease.whyRevoked();
    this.lease.isCalling = announcesJob(upstreamId);
  }

  async resubmitting(): Promise<boolean> {
    this.assertMayBuy();
    const outcome = await this.write(() => this.services.queue.submitLost(this.lease));
    if (outcome === 'lost') throw await this.lease.whyRevoked();
    return outcome === 'counted';
  }

  async linkTo({ path }: InputImage): Promise<string> {
    const bytes = await readFile(path);
    try {
      return await this.write(() => this.services.links.link(this.task, bytes));
    } catch (error) {
      if (this.signal.aborted) throw error;
      // Any error but a full quota is taken for an unreachable storage. Nothing is bought yet, so the task can wait for
      // the storage.
      if (!(error instanceof ApiError) || error.code !== 'file_quota_exceeded') {
        this.logger.warn({ event: 'image_link.failed', task_id: this.task.id, err: error });
        throw waitForProvider(this.task, undefined);
      }
      const message = 'This API key has no room for the images of this request, which its provider fetches.';
      throw new ProviderError('provider_rejected', { billing: 'none', message, cause: error.message });
    }
  }

  releaseImages(): Promise<void> {
    return this.services.images.release();
  }

  async polling<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = await this.lease.slot.polling(this.signal, work);
    if (this.task.upstream_id !== null) this.stages.done();
    return result;
  }

  /**
   * Records approximations that are in no intent. A provider without paid calls commits no intent if it has no price.
   * Some approximations are known only at the end. Call when the provider is done.
   */
  async recordApproximations(): Promise<void> {
    const approximations = [...this.submission.approximations, ...this.lacking];
    if ((this.hasIntent && this.lacking.length === 0) || approximations.length === 0) return;
    const held = await this.write(() => this.services.queue.approximated(this.lease, approximations));
    if (!held) throw await this.lease.whyRevoked();
  }

  async close(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    if (this.directory) await removeScratch(this.directory);
  }

  /** Call before every paid call. @throws ProviderError provider_outcome_unknown for a task from a restored backup */
  private assertMayBuy(): void {
    if (this.lease.mayBuy) return;
    const cause = 'Whether it was paid for since the backup (RESTORED_FROM) is unknown.';
    throw new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
  }

  private write<Result>(write: () => Promise<Result>): Promise<Result> {
    return retryWhileDatabaseDown(() => !this.signal.aborted, write);
  }

  /** A partial image that cannot be stored is left out, because it is not worth a retry. */
  private async storePartial(nth: number, image: Buffer): Promise<void> {
    try {
      await this.services.partials.store(this.lease, nth, image, conversionOf(this.task));
      // Progress is written at once, because followers look for the next image when the progress rises.
      this.newest = Math.min(99, this.newest + 1);
      await this.writeProgress();
    } catch (err) {
      if (!this.signal.aborted) this.logger.warn({ event: 'partial_image.lost', task_id: this.task.id, nth, err });
    }
  }

  private async writeProgress(): Promise<void> {
    this.written = this.newest;
    try {
      await this.services.queue.recordProgress(this.lease, this.written);
    } catch {
      // A lost progress write does no harm: the next one carries a higher number.
    }
    this.timer = null;
    this.progress(this.newest);
  }
}
