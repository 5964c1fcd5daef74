import { Injectable, Logger } from '@nestjs/common';
import {
  isResultUnwanted,
  ProviderError,
  type ProviderOutput,
  type ProviderRequest,
  type ResolvedInput,
  UnsupportedRequest,
} from '../../providers/provider.ts';
import { prepareRequest } from '../../providers/prepare-request.ts';
import { ProviderRegistry, type ReadyBinding } from '../../providers/registry.ts';
import type { ClaimedTask } from '../../tasks/queue/lease.ts';
import type { Submission } from '../../tasks/queue/submission.ts';
import { TaskQueue } from '../../tasks/queue/task-queue.ts';
import type { Approximation } from '../../tasks/task.entity.ts';
import { canTryNext, pickFailure } from './failover.ts';
import { waitForPlace, waitForProvider } from './must-wait.ts';
import { ProviderRun } from './provider-run.ts';
import type { Lease } from './running-tasks.ts';
import { retryWhileDatabaseDown } from './retry-while-database-down.ts';
import { withoutPrompt } from './without-prompt.ts';

type Images = ProviderRequest['images'];
type UnboundRequest = Omit<ProviderRequest, 'upstream'>;
type Keep<Kept> = (outputs: ProviderOutput[]) => Promise<Kept>;

interface Work<Kept> {
  task: ClaimedTask;
  lease: Lease;
  request: UnboundRequest;
  keep: Keep<Kept>;
}

const NO_IMAGES: Images = { references: [], firstFrame: null };

/** Time limit for cancelling a job upstream. */
const CANCEL_MS = 5_000;

/**
 * Chooses the binding that serves a generation and ensures that no call is paid twice: the next binding is tried only when
 * the one before certainly accepted nothing, and after a crash only the binding that was called may continue.
 */
@Injectable()
export class ServeGeneration {
  private readonly logger = new Logger('serve');

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly queue: TaskQueue,
  ) {}

  /**
   * @param images fetches the request's reference images; called only when a new job may be submitted
   * @param keep stores the outputs; called before the files of the run are deleted
   * @throws MustWait when all bindings are full or away; ProviderError, or the signal's reason
   */
  async serve<Kept>(task: ClaimedTask, lease: Lease, images: () => Promise<Images>, keep: Keep<Kept>): Promise<Kept> {
    const bindings = this.providers.bindingsOf(task.model);
    const input = requestOf(task);
    const work = async () => ({ task, lease, request: { ...input, images: await images() }, keep });
    if (task.submitted_at === null) {
      await this.assertNotWaiting(bindings, task, lease);
      return this.tryInTurn(bindings, await work());
    }

    const called = bindingCalled(bindings, task);
    if (!called) throw new ProviderError('provider_outcome_unknown', { cause: 'The binding that was called is gone.' });
    const withoutImages = { task, lease, request: { ...input, images: NO_IMAGES }, keep };
    if (await this.maySubmitAgain(called, withoutImages)) {
      if (!(await whileDatabaseDown(lease, () => this.queue.submitWithdrawn(lease)))) throw await lease.whyRevoked();
      return this.tryInTurn(bindings, await work());
    }
    // A video is one job and already in flight. Its reference images may have disappeared from their URLs.
    return this.runOn(called, task.kind === 'video' ? withoutImages : await work());
  }

  /** After a crash between the intent and the upstream's id: looks up whether the paid call was accepted. */
  private async maySubmitAgain(called: ReadyBinding, { task, lease, request }: Work<unknown>): Promise<boolean> {
    if (task.upstream_id !== null) return false;
    const { provider, upstream, onUnknownOutcome } = called;
    const mayRepeat = (onUnknownOutcome ?? (isSynchronous(called, task) ? 'resubmit' : 'fail')) === 'resubmit';
    try {
      if (!provider.find) throw new ProviderError('provider_outcome_unknown', { billing: 'unknown' });
      const found = await provider.find({ ...request, upstream }, lease.signal);
      if (found === null) return true;
      task.upstream_id = found;
    } catch (error) {
      if (mayRepeat && error instanceof ProviderError && error.billing === 'unknown') return true;
      throw error;
    }
    const { upstream_id: id } = task;
    if (await whileDatabaseDown(lease, () => this.queue.submitAccepted(lease, id))) return false;
    const lost = await lease.whyRevoked();
    await this.cancelUpstream(called, { ...request, upstream: called.upstream }, id, lease);
    throw lost;
  }

  private async tryInTurn<Kept>(bindings: ReadyBinding[], work: Work<Kept>): Promise<Kept> {
    const failures: (ProviderError | UnsupportedRequest)[] = [];
    for (const binding of bindings) {
      try {
        return await this.runOn(binding, work);
      } catch (error) {
        if (!canTryNext(error)) throw error;
        this.logSkipped(work.task, binding, error);
        failures.push(error);
      }
    }
    const failure = pickFailure(failures);
    // Nothing was accepted, so the task waits for its provider until its deadline.
    if (failure.code === 'provider_unavailable') throw waitForProvider(work.task, failure.retryAfterMs);
    throw failure;
  }

  /** Before the reference images are fetched: they would be fetched in vain at every claim. @throws MustWait */
  private async assertNotWaiting(bindings: ReadyBinding[], task: ClaimedTask, lease: Lease): Promise<void> {
    const closed = bindings.filter(({ circuit }) => !circuit.isOpen);
    if (closed.length === 0 && bindings.length > 0) throw waitForProvider(task, undefined);
    for (const binding of closed) {
      const isFull = () => this.queue.isFull(lease, submissionTo(binding, []));
      if (!(await whileDatabaseDown(lease, isFull))) return;
    }
    if (closed.length > 0) throw waitForPlace(task);
  }

  private async runOn<Kept>(binding: ReadyBinding, { task, lease, keep, ...work }: Work<Kept>): Promise<Kept> {
    const request = { ...work.request, upstream: binding.upstream };
    const prepared = prepareRequest(binding.provider, request);
    const run = new ProviderRun(task, lease, submissionTo(binding, prepared.approximations), this.queue);
    try {
      const outputs = await binding.circuit.execute(() => prepared.generate(run));
      lease.signal.throwIfAborted();
      return await keep(outputs);
    } catch (error) {
      if (isSynchronous(binding, task)) lease.isCalling = false; // the call ended with the run
      if (lease.signal.aborted) await this.cancelUpstream(binding, request, run.upstreamId, lease);
      else if (error instanceof ProviderError && error.billing === 'none') {
        lease.isCalling = false;
        await whileDatabaseDown(lease, () => this.queue.submitWithdrawn(lease));
      }
      throw error;
    } finally {
      await run.close();
    }
  }

  /** Cancels the job only after a user's cancel or the deadline: otherwise the task's next claim is polling it. */
  private async cancelUpstream(
    { provider }: ReadyBinding,
    request: ProviderRequest,
    upstreamId: string | null,
    lease: Lease,
  ): Promise<void> {
    if (!isResultUnwanted(lease.signal.reason) || upstreamId === null || !provider.cancel) return;
    await provider.cancel(request, upstreamId, AbortSignal.timeout(CANCEL_MS)).catch((err: unknown) => {
      this.logger.warn({
        event: 'upstream.cancel_failed',
        task_id: lease.id,
        provider: provider.name,
        upstream_id: upstreamId,
        err,
      });
    });
  }

  private logSkipped(
    task: ClaimedTask,
    { name, credential, upstream }: ReadyBinding,
    error: ProviderError | UnsupportedRequest,
  ): void {
    this.logger.warn({
      event: 'binding.skipped',
      task_id: task.id,
      provider: name,
      credential,
      upstream_model: upstream.model,
      code: error instanceof UnsupportedRequest ? 'unsupported' : error.code,
      reason: error instanceof UnsupportedRequest ? error.message : withoutPrompt(error.cause, task.input.prompt),
    });
  }
}

/** The binding that was called before the crash, with the upstream model recorded then: a binding of the same address may name another model now. */
function bindingCalled(bindings: ReadyBinding[], task: ClaimedTask): ReadyBinding | undefined {
  const atSameAddress = bindings.filter(
    ({ name, credential, upstream }) =>
      name === task.provider && credential === task.credential && upstream.baseUrl === task.provider_url,
  );
  const binding = atSameAddress.find(({ upstream }) => upstream.model === task.provider_model) ?? atSameAddress[0];
  if (!binding || task.provider_model === null) return binding;
  return { ...binding, upstream: { ...binding.upstream, model: task.provider_model } };
}

const requestOf = ({ id, model, kind, input }: ClaimedTask): Omit<UnboundRequest, 'images'> => ({
  taskId: id,
  model,
  kind,
  input: input as unknown as ResolvedInput, // validated when the task was created
});

const submissionTo = (binding: ReadyBinding, approximations: Approximation[]): Submission => {
  const { name, credential, concurrency, upstream } = binding;
  return { provider: name, url: upstream.baseUrl, model: upstream.model, credential, approximations, concurrency };
};

const isSynchronous = ({ provider }: ReadyBinding, { kind }: ClaimedTask): boolean =>
  provider.synchronousKinds?.includes(kind) ?? false;

/** Retries while the database is down, for writes that must not be lost. */
function whileDatabaseDown<Result>({ signal }: Lease, write: () => Promise<Result>): Promise<Result> {
  return retryWhileDatabaseDown(() => !signal.aborted, write);
}
