import { Injectable, Logger } from '@nestjs/common';
import { LinkedImages } from '../../files/images/linked-images.ts';
import type { Model } from '../../models/definition/model.ts';
import {
  isResultUnwanted,
  ProviderError,
  type ProviderOutput,
  type ProviderRequest,
  type StopReason,
  UnsupportedRequest,
} from '../../providers/contract/provider.ts';
import { isUnreadable } from '../../providers/jobs/find-job.ts';
import { prepareRequest } from '../../providers/contract/prepare-request.ts';
import { bindingPassedOver, runEnded, whileInFlight } from '../../providers/provider-metrics.ts';
import { ProviderRegistry, type ReadyBinding } from '../../providers/registry.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import { Pauses } from '../../tasks/queue/pauses.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import type { RunUsage } from '../../tasks/record/task-usage.ts';
import { bindingCalled, EvenLoad, hasImages, isSynchronous, placeAt, requestOf, submissionTo } from './run-bindings.ts';
import { canTryNext, failureOf, type Skipped, skipOf } from './failover.ts';
import { MustWait, waitForPause, waitForPlace, waitForProvider } from './must-wait.ts';
import { PartialImages } from './partial-images.ts';
import { ProviderRun } from './provider-run.ts';
import { type Lease, retryWhileDatabaseDown } from './running-tasks.ts';
import { type ImageSource, WITHOUT_IMAGES } from './run-images.ts';
import { NO_IMAGES } from '../images/reference-images.ts';
import { inStage } from './run-stages.ts';

/** @param seeds sent with the call of each output; empty if none was sent */
type Keep<Kept> = (outputs: ProviderOutput[], seeds: readonly number[]) => Promise<Kept>;

export interface Served<Kept> {
  kept: Kept;
  usage: RunUsage;
}

interface Work<Kept> {
  task: ClaimedTask;
  /** The model in the version that the task runs under. */
  model: Model;
  lease: Lease;
  /** Fetched only when a new job may be submitted. */
  images: ImageSource;
  /** Stores the outputs; called before the files of the run are deleted. */
  keep: Keep<Kept>;
}

const CANCEL_MS = 5_000;

/**
 * Chooses the binding that serves a generation, and avoids paying for it twice. The next binding is tried only if the
 * previous one has certainly accepted nothing. After a crash, a call whose outcome is unknown is repeated only if its
 * binding allows that.
 */
@Injectable()
export class ServeGeneration {
  private readonly logger = new Logger('serve');
  private readonly load = new EvenLoad();

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly queue: TaskQueue,
    private readonly partials: PartialImages,
    private readonly pauses: Pauses,
    private readonly links: LinkedImages,
  ) {}

  /** @throws MustWait when no binding can serve the task now; ProviderError; LeaseLost; the signal's reason */
  async serve<Kept>(work: Work<Kept>): Promise<Served<Kept>> {
    const { task, model, lease } = work;
    const bindings = this.providers.bindingsOf(model);
    if (task.submitted_at === null) {
      await this.assertNotWaiting(bindings, task, lease);
      return this.tryInTurn(bindings, work);
    }

    const called = bindingCalled(this.providers, model, task);
    if (!called) throw new ProviderError('provider_outcome_unknown', { cause: 'The binding that was called is gone.' });
    const again = await this.maySubmitAgain(called, work);
    if (again !== 'no') {
      const withdraw = () => this.queue.submitWithdrawn(lease, again === 'risking a second charge');
      if (!(await whileDatabaseDown(lease, withdraw))) throw await lease.whyRevoked();
      return this.tryInTurn(bindings, work);
    }
    // A video is one job, which is already in flight. The job needs no reference images any more, and their URLs may be
    // gone.
    try {
      const continued = task.kind === 'video' ? { ...work, images: WITHOUT_IMAGES } : work;
      return await this.load.at(called.endpoint, () => this.runOn(called, continued));
    } catch (error) {
      if (task.upstream_id !== null || !canTryNext(error)) throw error;
      return this.tryInTurn(bindings, work); // the provider lost the job, which cost nothing
    }
  }

  /**
   * Looks up whether the paid call was accepted, after a crash between the intent and the storing of the upstream's id.
   */
  private async maySubmitAgain(
    called: ReadyBinding,
    { task, model, lease }: Work<unknown>,
  ): Promise<'no' | 'at no cost' | 'risking a second charge'> {
    if (task.upstream_id !== null) return 'no';
    const { provider, onUnknownOutcome } = called;
    const request = requestOf(task, model, called, NO_IMAGES);
    const mayRepeat = (onUnknownOutcome ?? (isSynchronous(called, task) ? 'resubmit' : 'fail')) === 'resubmit';
    try {
      if (!provider.find) throw new ProviderError('provider_outcome_unknown', { billing: 'unknown' });
      const found = await provider.find(request, lease.signal, task.submitted_at?.getTime() ?? 0);
      if (found === null) return 'at no cost';
      task.upstream_id = found;
    } catch (error) {
      if (isUnreadable(error)) throw waitForProvider(task, undefined);
      if (mayRepeat && error instanceof ProviderError && error.billing === 'unknown') return 'risking a second charge';
      throw error;
    }
    const { upstream_id: id } = task;
    if (await whileDatabaseDown(lease, () => this.queue.submitAccepted(lease, id))) return 'no';
    const lost = await lease.whyRevoked();
    await this.cancelUpstream(called, request, id, lease);
    throw lost;
  }

  private async tryInTurn<Kept>(bindings: ReadyBinding[], work: Work<Kept>): Promise<Served<Kept>> {
    const failures: Skipped[] = [];
    const { task, lease } = work;
    const open = await this.load.inOrder(
      bindings.filter((binding) => !this.isPaused(binding)),
      (provider, urls) => whileDatabaseDown(lease, () => this.queue.tasksAt(task.model, provider, urls)),
    );
    for (const binding of open) {
      try {
        return await this.load.at(binding.endpoint, () => this.runOn(binding, work));
      } catch (error) {
        if (!canTryNext(error)) throw error;
        bindingPassedOver(binding.name, error);
        if (error instanceof UnsupportedRequest) work.lease.moments.note('refused', binding.name, 'provider_rejected');
        if (!(error instanceof MustWait)) this.logger.log(skipOf(work.task, binding, error));
        failures.push(error);
      }
    }
    if (open.length < bindings.length) failures.push(waitForPause(work.task));
    throw failureOf(work.task, failures);
  }

  private isPaused = ({ name, endpoint }: ReadyBinding): boolean => this.pauses.isPaused(name, endpoint);

  /**
   * Call before the reference images are fetched: while no binding is free, each claim would fetch them in vain.
   * @throws MustWait
   */
  private async assertNotWaiting(bindings: ReadyBinding[], task: ClaimedTask, lease: Lease): Promise<void> {
    const closed = bindings.filter((binding) => !binding.circuit.isOpen && !this.isPaused(binding));
    if (closed.length === 0 && bindings.length > 0) {
      throw bindings.every(this.isPaused) ? waitForPause(task) : waitForProvider(task, undefined);
    }
    for (const binding of closed) {
      const isFull = () => this.queue.isFull(lease, placeAt(binding));
      if (!(await whileDatabaseDown(lease, isFull))) return;
    }
    if (closed.length > 0) throw waitForPlace(task);
  }

  private async runOn<Kept>(
    binding: ReadyBinding,
    { task, model, lease, images, keep }: Work<Kept>,
  ): Promise<Served<Kept>> {
    const request = requestOf(task, model, binding, await inStage('images', task.kind, () => images.get()));
    if (hasImages(request)) lease.moments.referencesReady();
    const prepared = prepareRequest(binding.provider, request);
    const submission = submissionTo(binding, request, prepared, this.providers);
    const { queue, partials, links } = this;
    const run = new ProviderRun(task, lease, submission, { queue, partials, links, images });
    try {
      if (binding.provider.isFree && submission.price?.full) await run.submitting();
      if (binding.provider.isFree || run.upstreamId !== null) run.stages.waits();
      const generate = () => whileInFlight(binding.name, () => prepared.generate(run));
      // An accepted job is polled even while calls to its provider fail, so the circuit breaker does not count here.
      const outputs = await (run.upstreamId === null ? binding.circuit.execute(generate) : generate());
      run.stages.received();
      lease.signal.throwIfAborted();
      await run.recordApproximations();
      await run.partialImagesStored();
      lease.moments.note('storing', binding.name);
      const kept = await inStage('store', task.kind, () => keep(outputs, run.sentSeeds));
      runEnded(task.model, binding.name, null);
      return { kept, usage: run.usage };
    } catch (error) {
      run.stages.failed(error);
      if (isSynchronous(binding, task)) lease.isCalling = false; // the call ended with the run
      if (!lease.signal.aborted) runEnded(task.model, binding.name, error);
      if (lease.signal.aborted) await this.cancelUpstream(binding, request, run.upstreamId, lease);
      else if (error instanceof ProviderError && error.billing === 'none') {
        lease.isCalling = false;
        lease.moments.note('refused', binding.name, error.code);
        await whileDatabaseDown(lease, () => this.queue.submitWithdrawn(lease, false));
        task.upstream_id = null;
      }
      throw error;
    } finally {
      await run.close();
    }
  }

  /** Cancels the job only if its result is unwanted. Otherwise the task's next claim polls the job. */
  private async cancelUpstream(
    { provider }: ReadyBinding,
    request: ProviderRequest,
    upstreamId: string | null,
    lease: Lease,
  ): Promise<void> {
    if (!isResultUnwanted(lease.signal.reason) || upstreamId === null || !provider.cancel) return;
    try {
      if (!(await provider.cancel(request, upstreamId, AbortSignal.timeout(CANCEL_MS)))) return;
      lease.isCancelledUnrun = true;
      if (lease.signal.reason === ('ended' satisfies StopReason)) await this.queue.cancelConfirmed(lease.id);
    } catch (err) {
      this.logger.log({
        event: 'upstream.cancel_failed',
        task_id: lease.id,
        provider: provider.name,
        upstream_id: upstreamId,
        cause: err instanceof ProviderError ? err.cause : err,
      });
    }
  }
}

/** Retries a query while the database is down, until the run is stopped. */
function whileDatabaseDown<Result>({ signal }: Lease, write: () => Promise<Result>): Promise<Result> {
  return retryWhileDatabaseDown(() => !signal.aborted, write);
}
