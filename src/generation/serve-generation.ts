import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { RecordSubmit } from '../tasks/acts/record-submit.ts';
import type { ClaimedTask } from '../tasks/acts/claim-tasks.ts';
import { LiveRuns } from './live-runs.ts';
import type { LiveRun } from './live-run.ts';
import { ProviderError, type ProviderOutput, type ProviderRequest, Unfit } from './provider.ts';
import { Providers, type ReadyBinding } from './providers.ts';
import type { Held } from './running-tasks.ts';
import { withoutPrompt } from './without-prompt.ts';

type Unbound = Omit<ProviderRequest, 'upstream'>;
type Keep<Kept> = (outputs: ProviderOutput[]) => Promise<Kept>;

interface Work<Kept> {
  task: ClaimedTask;
  held: Held;
  request: Unbound;
  keep: Keep<Kept>;
}

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
    private readonly providers: Providers,
    private readonly runs: LiveRuns,
    private readonly submits: RecordSubmit,
  ) {}

  /**
   * @param keep takes what was made while the files of the run are still there
   * @throws ProviderError, or the signal's reason
   */
  async serve<Kept>(task: ClaimedTask, held: Held, request: Unbound, keep: Keep<Kept>): Promise<Kept> {
    const bindings = this.providers.bindingsOf(task.model);
    const work = { task, held, request, keep };
    if (task.submitted_at === null) return this.tryInTurn(bindings, work);

    const asked = bindings.find(
      ({ name, credential, upstream }) =>
        name === task.provider && credential === task.credential && upstream.baseUrl === task.provider_url,
    );
    if (!asked) throw new ProviderError('provider_outcome_unknown', { cause: 'The binding that was asked is gone.' });
    if (await this.maySubmitAgain(asked, work)) {
      if (!(await this.submits.withdrawn(held))) throw await held.lost();
      return this.tryInTurn(bindings, work);
    }
    return this.runOn(asked, work);
  }

  /** After a crash between the intent and the upstream's id: was the paid call accepted? */
  private async maySubmitAgain(
    { provider, upstream, onUnknownOutcome }: ReadyBinding,
    { task, held, request }: Work<unknown>,
  ): Promise<boolean> {
    if (task.upstream_id !== null) return false;
    if (provider.find) {
      const found = await provider.find({ ...request, upstream }, held.signal);
      if (found === null) return true;
      if (!(await this.submits.accepted(held, found))) throw await held.lost();
      task.upstream_id = found;
      return false;
    }
    const synchronous = provider.synchronousKinds?.includes(task.kind) ?? false;
    if ((onUnknownOutcome ?? (synchronous ? 'resubmit' : 'fail')) === 'resubmit') return true;
    throw new ProviderError('provider_outcome_unknown');
  }

  private async tryInTurn<Kept>(bindings: ReadyBinding[], work: Work<Kept>): Promise<Kept> {
    let waitMs = FIRST_WAIT_MS;
    for (let round = 1; ; round += 1) {
      const failures: (ProviderError | Unfit)[] = [];
      for (const binding of bindings) {
        try {
          return await this.runOn(binding, work);
        } catch (error) {
          if (!mayGoOn(error)) throw error;
          this.note(work.task, binding, error);
          failures.push(error);
        }
      }
      const failure = worthTelling(failures);
      if (failure.code !== 'provider_unavailable' || round === ROUNDS) throw failure;
      await sleep(Math.min(failure.retryAfterMs ?? waitMs, LONGEST_WAIT_MS), undefined, { signal: work.held.signal });
      waitMs *= 2;
    }
  }

  private async runOn<Kept>(binding: ReadyBinding, { task, held, keep, ...work }: Work<Kept>): Promise<Kept> {
    const request = { ...work.request, upstream: binding.upstream };
    const approximations = binding.provider.plan(request);
    const run = this.runs.of(task, held, binding, approximations);
    try {
      const outputs = await binding.circuit.execute(() => binding.provider.generate(request, run));
      held.signal.throwIfAborted();
      return await keep(outputs);
    } catch (error) {
      if (held.signal.aborted) await this.tellUpstream(binding, request, run, held);
      else if (error instanceof ProviderError && error.spent === 'nothing') await this.submits.withdrawn(held);
      throw error;
    } finally {
      await run.close();
    }
  }

  /** Only a user's cancel and the deadline end a job upstream: after anything else its successor is polling it. */
  private async tellUpstream(
    { provider }: ReadyBinding,
    request: ProviderRequest,
    run: LiveRun,
    held: Held,
  ): Promise<void> {
    const unwanted = held.signal.reason === 'ended' || held.signal.reason === 'deadline';
    if (!unwanted || run.upstreamId === null || !provider.cancel) return;
    await provider.cancel(request, run.upstreamId, AbortSignal.timeout(CANCEL_MS)).catch((error: Error) => {
      this.logger.warn({ event: 'upstream.cancel_failed', task_id: held.id, cause: error.message });
    });
  }

  private note(task: ClaimedTask, { name, credential, upstream }: ReadyBinding, error: ProviderError | Unfit): void {
    this.logger.warn({
      event: 'binding.passed_over',
      task_id: task.id,
      provider: name,
      credential,
      upstream_model: upstream.model,
      code: error instanceof Unfit ? 'unfit' : error.code,
      reason: error instanceof Unfit ? error.message : withoutPrompt(error.cause, task.input.prompt),
    });
  }
}

/** A refused content is refused: it is not carried from door to door. */
function mayGoOn(error: unknown): error is ProviderError | Unfit {
  if (error instanceof Unfit) return true;
  return error instanceof ProviderError && error.spent === 'nothing' && error.code !== 'content_policy_violation';
}

/** Of several failures the one that may pass, so that the round is tried again; otherwise the first. */
function worthTelling(failures: (ProviderError | Unfit)[]): ProviderError {
  const errors = failures.filter((failure) => failure instanceof ProviderError);
  const passing = errors.find(({ code }) => code === 'provider_unavailable');
  if (passing ?? errors[0]) return (passing ?? errors[0]) as ProviderError;
  const unfit = failures[0] as Unfit | undefined;
  if (!unfit) return new ProviderError('provider_rejected');
  // What it says itself names the provider, which is for the operator.
  const message = `No provider of this model can do what ${unfit.param} asks for.`;
  return new ProviderError('provider_rejected', { message, param: unfit.param });
}
