import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecordSubmit } from '../../tasks/sql/record-submit.ts';
import type { ClaimedTask } from '../../tasks/sql/claim-tasks.ts';
import { ProviderRuns } from './provider-runs.ts';
import {
  isResultUnwanted,
  ProviderError,
  type ProviderOutput,
  type ProviderRequest,
  UnsupportedRequest,
} from '../../providers/provider.ts';
import { prepareRequest } from '../../providers/prepare-request.ts';
import { ProviderRegistry, type ReadyBinding } from '../../providers/registry.ts';
import type { Lease } from './running-tasks.ts';
import { retryWhileDatabaseDown } from './retry-while-database-down.ts';
import { withoutPrompt } from './without-prompt.ts';

type Images = ProviderRequest['images'];
type UnboundRequest = Omit<ProviderRequest, 'upstream'>;
type Keep<Kept> = (outputs: ProviderOutput[]) => Promise<Kept>;

interface Work<Kept> {
  task: ClaimedTask;
  held: Lease;
  request: UnboundRequest;
  keep: Keep<Kept>;
}

const NO_IMAGES: Images = { references: [], firstFrame: null };

/** Rounds through the bindings while all of them are busy or away, and the wait after the first; it doubles. */
const ROUNDS = 5;
const FIRST_WAIT_MS = 500;
/** Longer than this no Retry-After keeps a task waiting; the round after it decides. */
const LONGEST_WAIT_MS = 60_000;
/** What an upstream gets to hear that nobody wants its job any more. */
const CANCEL_MS = 5_000;

/**
 * Finds who serves a generation, and sees to it that nobody is paid twice: the next binding is asked only while the one
 * before surely accepted nothing, and after a crash the one that was asked is the only one that may go on.
 */
@Injectable()
export class ServeGeneration {
  private readonly logger = new Logger('serve');

  constructor(
    private readonly providers: ProviderRegistry,
    private readonly runs: ProviderRuns,
    private readonly submits: RecordSubmit,
  ) {}

  /**
   * @param images fetches those the request names; called only if somebody is to be asked anew
   * @param keep takes what was made while the files of the run are still there
   * @throws ProviderError, or the signal's reason
   */
  async serve<Kept>(
    task: ClaimedTask,
    held: Lease,
    bare: Omit<UnboundRequest, 'images'>,
    images: () => Promise<Images>,
    keep: Keep<Kept>,
  ): Promise<Kept> {
    const bindings = this.providers.bindingsOf(task.model);
    const work = async () => ({ task, held, request: { ...bare, images: await images() }, keep });
    if (task.submitted_at === null) return this.tryInTurn(bindings, await work());

    const asked = bindingAsked(bindings, task);
    if (!asked) throw new ProviderError('provider_outcome_unknown', { cause: 'The binding that was asked is gone.' });
    const without = { task, held, request: { ...bare, images: NO_IMAGES }, keep };
    if (await this.maySubmitAgain(asked, without)) {
      if (!(await whileDatabaseDown(held, () => this.submits.withdrawn(held)))) throw await held.whyRevoked();
      return this.tryInTurn(bindings, await work());
    }
    // A film is one job, and under way: what it starts from may be gone from its address by now.
    return this.runOn(asked, task.kind === 'video' ? without : await work());
  }

  /** After a crash between the intent and the upstream's id: was the paid call accepted? */
  private async maySubmitAgain(asked: ReadyBinding, { task, held, request }: Work<unknown>): Promise<boolean> {
    if (task.upstream_id !== null) return false;
    const { provider, upstream, onUnknownOutcome } = asked;
    const mayRepeat = (onUnknownOutcome ?? (isSynchronous(asked, task) ? 'resubmit' : 'fail')) === 'resubmit';
    try {
      if (!provider.find) throw new ProviderError('provider_outcome_unknown', { billing: 'unknown' });
      const found = await provider.find({ ...request, upstream }, held.signal);
      if (found === null) return true;
      task.upstream_id = found;
    } catch (error) {
      if (mayRepeat && error instanceof ProviderError && error.billing === 'unknown') return true;
      throw error;
    }
    const { upstream_id: id } = task;
    if (await whileDatabaseDown(held, () => this.submits.accepted(held, id))) return false;
    const lost = await held.whyRevoked();
    await this.cancelUpstream(asked, { ...request, upstream: asked.upstream }, id, held);
    throw lost;
  }

  private async tryInTurn<Kept>(bindings: ReadyBinding[], work: Work<Kept>): Promise<Kept> {
    let waitMs = FIRST_WAIT_MS;
    for (let round = 1; ; round += 1) {
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
      if (failure.code !== 'provider_unavailable' || round === ROUNDS) throw failure;
      await sleep(Math.min(failure.retryAfterMs ?? waitMs, LONGEST_WAIT_MS), undefined, { signal: work.held.signal });
      waitMs *= 2;
    }
  }

  private async runOn<Kept>(binding: ReadyBinding, { task, held, keep, ...work }: Work<Kept>): Promise<Kept> {
    const request = { ...work.request, upstream: binding.upstream };
    const prepared = prepareRequest(binding.provider, request);
    const run = this.runs.of(task, held, binding, prepared.approximations);
    try {
      const outputs = await binding.circuit.execute(() => prepared.generate(run));
      held.signal.throwIfAborted();
      return await keep(outputs);
    } catch (error) {
      if (isSynchronous(binding, task)) held.isCalling = false; // the call ended with the run
      if (held.signal.aborted) await this.cancelUpstream(binding, request, run.upstreamId, held);
      else if (error instanceof ProviderError && error.billing === 'none') {
        held.isCalling = false;
        await whileDatabaseDown(held, () => this.submits.withdrawn(held));
      }
      throw error;
    } finally {
      await run.close();
    }
  }

  /** Only a user's cancel and the deadline end a job upstream: after anything else its successor is polling it. */
  private async cancelUpstream(
    { provider }: ReadyBinding,
    request: ProviderRequest,
    upstreamId: string | null,
    held: Lease,
  ): Promise<void> {
    if (!isResultUnwanted(held.signal.reason) || upstreamId === null || !provider.cancel) return;
    await provider.cancel(request, upstreamId, AbortSignal.timeout(CANCEL_MS)).catch((error: Error) => {
      this.logger.warn({ event: 'upstream.cancel_failed', task_id: held.id, cause: error.message });
    });
  }

  private logSkipped(
    task: ClaimedTask,
    { name, credential, upstream }: ReadyBinding,
    error: ProviderError | UnsupportedRequest,
  ): void {
    this.logger.warn({
      event: 'binding.passed_over',
      task_id: task.id,
      provider: name,
      credential,
      upstream_model: upstream.model,
      code: error instanceof UnsupportedRequest ? 'unsupported' : error.code,
      reason: error instanceof UnsupportedRequest ? error.message : withoutPrompt(error.cause, task.input.prompt),
    });
  }
}

/** Who was asked, under the upstream's model that was asked for: another binding of the same place may name another. */
function bindingAsked(bindings: ReadyBinding[], task: ClaimedTask): ReadyBinding | undefined {
  const there = bindings.filter(
    ({ name, credential, upstream }) =>
      name === task.provider && credential === task.credential && upstream.baseUrl === task.provider_url,
  );
  const binding = there.find(({ upstream }) => upstream.model === task.provider_model) ?? there[0];
  if (!binding || task.provider_model === null) return binding;
  return { ...binding, upstream: { ...binding.upstream, model: task.provider_model } };
}

const isSynchronous = ({ provider }: ReadyBinding, { kind }: ClaimedTask): boolean =>
  provider.synchronousKinds?.includes(kind) ?? false;

/** What the record has to know, once the database is back if it is away. */
function whileDatabaseDown<Result>({ signal }: Lease, write: () => Promise<Result>): Promise<Result> {
  return retryWhileDatabaseDown(() => !signal.aborted, write);
}

/** A refused content is refused: it is not carried from door to door. */
function canTryNext(error: unknown): error is ProviderError | UnsupportedRequest {
  if (error instanceof UnsupportedRequest) return true;
  return error instanceof ProviderError && error.billing === 'none' && error.code !== 'content_policy_violation';
}

/** Of several failures the one that may pass, so that the round is tried again; otherwise the first. */
function pickFailure(failures: (ProviderError | UnsupportedRequest)[]): ProviderError {
  const errors = failures.filter((failure) => failure instanceof ProviderError);
  const passing = errors.find(({ code }) => code === 'provider_unavailable');
  if (passing ?? errors[0]) return (passing ?? errors[0]) as ProviderError;
  const unfit = failures[0] as UnsupportedRequest | undefined;
  if (!unfit) return new ProviderError('provider_rejected');
  // What it says itself names the provider, which is for the operator.
  const message = `No provider of this model can do what ${unfit.param} asks for.`;
  return new ProviderError('provider_rejected', { message, param: unfit.param });
}
