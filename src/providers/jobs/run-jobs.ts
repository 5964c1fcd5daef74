import { Logger } from '@nestjs/common';
import { afterAccepted, ProviderError, type Run } from '../contract/provider.ts';
import { networkCause } from '../wire/operator-cause.ts';
import { pause } from '../wire/pause.ts';
import { type Accepted, submitOnce } from './submit-once.ts';

/** The calls of one upstream job API, for one generation. */
export interface Jobs<Ended, T> {
  /** The name of the provider, for the operator's log. */
  provider: string;
  taskId: string;
  /** The number of jobs that make all outputs. */
  count: number;
  /** The number of outputs that the request asks for. */
  outputs: number;
  /** The seed that is sent for each job; missing: no seed is sent. */
  seeds?: readonly number[] | undefined;
  /** Milliseconds before a job other than the first is submitted again after a temporary refusal. */
  retryMs: number;
  /**
   * Creates one job. The paid call itself is sent once and without a signal.
   * @param signal stops the search for a job whose paid call got no answer
   * @throws ProviderError whose `billing` says what the call may have cost
   */
  submit(index: number, signal: AbortSignal): Promise<Accepted>;
  /** Called once, when every job is accepted. `submit` is not called after that. */
  accepted?(): Promise<void>;
  /** Polls one job to its end. @throws ProviderError of a job that failed */
  wait(id: string, index: number, signal: AbortSignal, progress: (percent: number) => void): Promise<Ended>;
  /** Downloads the outputs of one job. @throws ProviderError provider_unavailable when another try may succeed */
  collect(ended: Ended, index: number, signal: AbortSignal): Promise<T[]>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
}

const CANCEL_TIMEOUT_MS = 10_000;

/** The most tries of one download in a row. After them the run gives its slot back to the worker and pauses. */
export const DOWNLOAD_TRIES = 3;

/** The first pause between rounds of downloads, when the server is unavailable. */
const FIRST_COLLECT_PAUSE_MS = 1_000;
const LAST_COLLECT_PAUSE_MS = 30_000;

/**
 * Stands in a list of ids for the next job, whose paid call is about to be sent. If no id replaces it, the outcome of
 * that call is unknown.
 */
const INTENT = '?';

/** Whether a list of job ids ends with an intent: one more job is about to be submitted, or may already exist. */
export const announcesJob = (upstreamId: string): boolean => upstreamId.endsWith(INTENT);

const logger = new Logger('providers');

/**
 * Runs one generation as one or several upstream jobs. The task's upstream id is the list of job ids, joined by commas.
 * Before each paid call after the first, an intent is recorded in that list, so that no job is bought twice after a
 * crash.
 * @throws ProviderError of the first job that fails; the other jobs are then cancelled
 */
export async function runJobs<Ended, T>(run: Run, jobs: Jobs<Ended, T>): Promise<T[]> {
  const ids = await submitAll(run, jobs);
  await jobs.accepted?.();
  const stop = new AbortController();
  const signal = AbortSignal.any([run.signal, stop.signal]);
  const percents = ids.map(() => 0);
  const progress = (index: number, percent: number) => {
    percents[index] = percent;
    run.progress(percents.reduce((sum, one) => sum + one, 0) / ids.length);
  };
  try {
    const wait = (id: string, index: number) => jobs.wait(id, index, signal, (percent) => progress(index, percent));
    const ended = await run.polling(() => Promise.all(ids.map(wait)));
    const outputs = await collectAll(run, jobs, ended, signal);
    if (jobs.seeds) run.seeds(outputs.flatMap((made, at) => made.map(() => jobs.seeds![at]!)));
    return assertCount(outputs.flat(), jobs.outputs, run);
  } catch (error) {
    run.signal.throwIfAborted();
    stop.abort(error);
    // With several jobs, all are cancelled, including the failed one. Perhaps only its polls failed, and it is still
    // running.
    if (ids.length > 1) cancelAll(ids, jobs);
    throw error;
  }
}

/** Downloads all results. They are paid for, so an unavailable server is tried again until the signal aborts. */
async function collectAll<Ended, T>(
  run: Run,
  jobs: Jobs<Ended, T>,
  ended: Ended[],
  signal: AbortSignal,
): Promise<T[][]> {
  const outputs: T[][] = [];
  for (let pauseMs = FIRST_COLLECT_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LAST_COLLECT_PAUSE_MS)) {
    const tries = await Promise.allSettled(
      ended.map(async (job, index) => (outputs[index] ??= await jobs.collect(job, index, signal))),
    );
    const failures = tries.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
    if (failures.length === 0) return outputs;
    const final = failures.find((failure) => !isTemporary(failure));
    if (final !== undefined) throw final;
    await run.polling(() => pause(pauseMs, signal));
  }
}

const isTemporary = (failure: unknown): boolean =>
  failure instanceof ProviderError && failure.code === 'provider_unavailable';

/**
 * Drops the surplus of models that make more outputs than requested. If there are fewer, they are kept, because they
 * are paid for.
 * @throws ProviderError provider_no_result when there are none
 */
function assertCount<T>(outputs: T[], requested: number, run: Run): T[] {
  if (outputs.length === 0) throw new ProviderError('provider_no_result', { cause: { outputs: 0, requested } });
  if (outputs.length < requested) run.fewer(outputs.length, 0);
  return outputs.slice(0, requested);
}

/**
 * Cancels every job in a task's upstream id.
 * @returns true when each of them was cancelled before it ran
 * @throws the first failure, once every job was tried
 */
export async function cancelJobs(
  upstreamId: string,
  cancel: (id: string) => Promise<true | void>,
): Promise<true | void> {
  const ids = idsIn(upstreamId);
  const results = await Promise.allSettled(ids.map(cancel));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
  const unrun = results.filter((result) => result.status === 'fulfilled' && result.value === true);
  // If the list has an intent, one more job may exist.
  if (ids.length > 0 && unrun.length === ids.length && !announcesJob(upstreamId)) return true;
}

async function submitAll<Ended, T>(run: Run, jobs: Jobs<Ended, T>): Promise<string[]> {
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

async function submitFirst<Ended, T>(run: Run, jobs: Jobs<Ended, T>): Promise<Accepted> {
  run.signal.throwIfAborted();
  await run.submitting();
  run.signal.throwIfAborted();
  return submitOnce(run, jobs.submit(0, run.signal), lateJobHandlers(run, jobs, []));
}

/**
 * The first job is accepted, so no other provider can be tried. A further job that is refused temporarily is submitted
 * again.
 */
async function submitFurther<Ended, T>(run: Run, jobs: Jobs<Ended, T>, ids: readonly string[]): Promise<Accepted> {
  for (;;) {
    await run.submitted([...ids, INTENT].join(','));
    try {
      return await submitOnce(run, jobs.submit(ids.length, run.signal), lateJobHandlers(run, jobs, ids));
    } catch (error) {
      run.signal.throwIfAborted();
      if (!(error instanceof ProviderError)) throw error;
      if (error.code !== 'provider_unavailable' || error.billing !== 'none') {
        cancelAll(ids, jobs);
        throw afterAccepted(error);
      }
      await run.submitted(ids.join(','));
      await run.polling(() => pause(Math.max(jobs.retryMs, error.retryAfterMs ?? 0), run.signal));
    }
  }
}

function lateJobHandlers<Ended, T>(run: Run, jobs: Jobs<Ended, T>, ids: readonly string[]) {
  return {
    cancel: (id: string) => cancelOrLog(id, jobs, AbortSignal.timeout(CANCEL_TIMEOUT_MS)),
    record: ({ id, requestId }: Accepted) => run.submitted([...ids, id].join(','), requestId),
  };
}

/** Cancels in the background, so that the caller can throw its error at once. */
function cancelAll<Ended, T>(ids: readonly string[], jobs: Jobs<Ended, T>): void {
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  for (const id of ids) void cancelOrLog(id, jobs, signal);
}

/** The job is paid for, so a failed cancel is logged: the operator may still stop the job. */
async function cancelOrLog<Ended, T>(id: string, jobs: Jobs<Ended, T>, signal: AbortSignal): Promise<void> {
  const { provider, taskId } = jobs;
  try {
    await jobs.cancel(id, signal);
  } catch (error) {
    logger.log({
      event: 'upstream.cancel_failed',
      task_id: taskId,
      provider,
      upstream_id: id,
      cause: error instanceof ProviderError ? error.cause : networkCause(provider, error),
    });
  }
}

function idsIn(upstreamId: string): string[] {
  return upstreamId.split(',').filter((id) => id !== '' && id !== INTENT);
}
