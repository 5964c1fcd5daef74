import { ProviderError, type Run } from '../provider.ts';
import { pause } from './pause.ts';
import { type Accepted, submitOnce } from './submit-once.ts';

/** How a job interface is spoken to for one generation. */
export interface Jobs<T> {
  /** How many jobs it takes to make all the outputs. */
  count: number;
  /** How many outputs that is. */
  outputs: number;
  /** Milliseconds before a job after the first is submitted again, having been refused for the moment. */
  retryMs: number;
  /**
   * Makes one job. The paid call itself is sent once and without a signal.
   * @param signal for what comes after a paid call that got no answer
   * @throws ProviderError whose `billing` says what became of it
   */
  submit(index: number, signal: AbortSignal): Promise<Accepted>;
  /** Polls one job to its end and brings its outputs home. */
  collect(id: string, index: number, signal: AbortSignal, progress: (percent: number) => void): Promise<T[]>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
}

/** How long a farewell to an upstream may take. */
const CANCEL_TIMEOUT_MS = 10_000;

/** In a list of ids: the next job's paid call is about to be sent, so its fate is unknown if nothing follows. */
const INTENT = '?';

/**
 * Runs one generation as one or several upstream jobs. The record's upstream id is their ids, joined by commas; before every
 * further paid call an intent is noted there, so that after a crash no job is bought twice.
 * @throws ProviderError of the first job that fails; the others are then cancelled
 */
export async function runJobs<T>(run: Run, jobs: Jobs<T>): Promise<T[]> {
  const ids = await submitAll(run, jobs);
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const percents = ids.map(() => 0);
  const progress = (index: number, percent: number) => {
    percents[index] = percent;
    run.progress(percents.reduce((sum, one) => sum + one, 0) / ids.length);
  };
  try {
    const outputs = await Promise.all(
      ids.map((id, index) => jobs.collect(id, index, signal, (percent) => progress(index, percent))),
    );
    return assertCount(outputs.flat(), jobs.outputs);
  } catch (error) {
    run.signal.throwIfAborted();
    stop.abort(error);
    // The failed one too: a download may have failed while the job's siblings run on.
    if (ids.length > 1) cancelAll(ids, jobs);
    throw error;
  }
}

/** A model that makes more than it was asked for has its reasons; fewer are a failure. */
function assertCount<T>(outputs: T[], wanted: number): T[] {
  if (outputs.length >= wanted) return outputs.slice(0, wanted);
  throw new ProviderError('internal_error', { cause: { outputs: outputs.length, wanted } });
}

/** Tells the upstream, best-effort, that nobody wants the jobs in this upstream id any more. */
export async function cancelJobs(upstreamId: string, cancel: (id: string) => Promise<void>): Promise<void> {
  await Promise.allSettled(idsIn(upstreamId).map(cancel));
}

async function submitAll<T>(run: Run, jobs: Jobs<T>): Promise<string[]> {
  const ids = idsIn(run.upstreamId ?? '');
  if (run.upstreamId?.endsWith(INTENT)) {
    cancelAll(ids, jobs);
    throw new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause: { jobs_known: ids.length } });
  }
  while (ids.length < jobs.count) {
    const { id, requestId } = await (ids.length === 0 ? submitFirst(run, jobs) : submitFurther(run, jobs, ids));
    ids.push(id);
    await run.submitted(ids.join(','), requestId);
    run.signal.throwIfAborted();
  }
  return ids;
}

async function submitFirst<T>(run: Run, jobs: Jobs<T>): Promise<Accepted> {
  run.signal.throwIfAborted();
  await run.submitting();
  run.signal.throwIfAborted();
  return submitOnce(run, jobs.submit(0, run.signal), lateJobHandlers(run, jobs, []));
}

/** The first is accepted, so no other provider can be asked any more: what is refused for the moment is tried again. */
async function submitFurther<T>(run: Run, jobs: Jobs<T>, ids: readonly string[]): Promise<Accepted> {
  for (;;) {
    await run.submitted([...ids, INTENT].join(','));
    try {
      return await submitOnce(run, jobs.submit(ids.length, run.signal), lateJobHandlers(run, jobs, ids));
    } catch (error) {
      run.signal.throwIfAborted();
      if (!(error instanceof ProviderError)) throw error;
      if (error.code !== 'provider_unavailable' || error.billing !== 'none') {
        cancelAll(ids, jobs);
        const { code, message, param, cause } = error;
        const billing = error.billing === 'none' ? 'charged' : error.billing;
        throw new ProviderError(code, { message, billing, cause, ...(param === undefined ? {} : { param }) });
      }
      await run.submitted(ids.join(','));
      await pause(Math.max(jobs.retryMs, error.retryAfterMs ?? 0), run.signal);
    }
  }
}

function lateJobHandlers<T>(run: Run, jobs: Jobs<T>, ids: readonly string[]) {
  return {
    cancel: (id: string) => jobs.cancel(id, AbortSignal.timeout(CANCEL_TIMEOUT_MS)),
    note: ({ id, requestId }: Accepted) => run.submitted([...ids, id].join(','), requestId),
  };
}

/** In the background: the failure need not wait for it. */
function cancelAll<T>(ids: readonly string[], jobs: Jobs<T>): void {
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  void Promise.allSettled(ids.map((id) => jobs.cancel(id, signal)));
}

function idsIn(upstreamId: string): string[] {
  return upstreamId.split(',').filter((id) => id !== '' && id !== INTENT);
}
