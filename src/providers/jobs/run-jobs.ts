import { Logger } from '@nestjs/common';
import { ProviderError, type Run } from '../provider.ts';
import { networkCause } from '../wire/operator-cause.ts';
import { pause } from './pause.ts';
import { type Accepted, submitOnce } from './submit-once.ts';

/** The calls of one upstream job API, for one generation. */
export interface Jobs<T> {
  /** For the operator's log. */
  provider: string;
  taskId: string;
  /** How many jobs it takes to make all outputs. */
  count: number;
  /** How many outputs the request asks for. */
  outputs: number;
  /** Milliseconds before a second or later job, refused temporarily, is submitted again. */
  retryMs: number;
  /**
   * Creates one job. The paid call itself is sent once and without a signal.
   * @param signal for the work after a paid call without an answer
   * @throws ProviderError whose `billing` says what the call may have cost
   */
  submit(index: number, signal: AbortSignal): Promise<Accepted>;
  /** Polls one job to its end and downloads its outputs. */
  collect(id: string, index: number, signal: AbortSignal, progress: (percent: number) => void): Promise<T[]>;
  cancel(id: string, signal: AbortSignal): Promise<void>;
}

const CANCEL_TIMEOUT_MS = 10_000;

/** In a list of ids: the next job's paid call is about to be sent. If no id replaces it, the outcome of that call is unknown. */
const INTENT = '?';

const logger = new Logger('providers');

/**
 * Runs one generation as one or several upstream jobs. The task's upstream id is the list of job ids, joined by commas. Before
 * each further paid call an intent is recorded there, so that a crash never leads to a job that is bought twice.
 * @throws ProviderError of the first job that fails; the other jobs are then cancelled
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
    // Includes the failed job: if its download failed, the other jobs may still be running.
    if (ids.length > 1) cancelAll(ids, jobs);
    throw error;
  }
}

/** Some models make more outputs than requested; the surplus is dropped. Fewer outputs are a failure. */
function assertCount<T>(outputs: T[], requested: number): T[] {
  if (outputs.length >= requested) return outputs.slice(0, requested);
  throw new ProviderError('internal_error', { cause: { outputs: outputs.length, requested } });
}

/**
 * Cancels every job in a task's upstream id.
 * @throws the first failure, once every job was tried
 */
export async function cancelJobs(upstreamId: string, cancel: (id: string) => Promise<void>): Promise<void> {
  const results = await Promise.allSettled(idsIn(upstreamId).map(cancel));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure) throw failure.reason;
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

/** The first job is accepted, so no other provider can be tried: a job that is refused temporarily is submitted again. */
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
        throw afterAcceptedJobs(error);
      }
      await run.submitted(ids.join(','));
      await pause(Math.max(jobs.retryMs, error.retryAfterMs ?? 0), run.signal);
    }
  }
}

/** The same failure, where earlier jobs of the generation were accepted: at least those are billed. */
function afterAcceptedJobs({ code, message, param, cause, billing }: ProviderError): ProviderError {
  return new ProviderError(code, {
    message,
    billing: billing === 'none' ? 'charged' : billing,
    cause,
    ...(param === undefined ? {} : { param }),
  });
}

function lateJobHandlers<T>(run: Run, jobs: Jobs<T>, ids: readonly string[]) {
  return {
    cancel: (id: string) => cancelOrLog(id, jobs, AbortSignal.timeout(CANCEL_TIMEOUT_MS)),
    record: ({ id, requestId }: Accepted) => run.submitted([...ids, id].join(','), requestId),
  };
}

/** In the background: the failure that leads here need not wait for it. */
function cancelAll<T>(ids: readonly string[], jobs: Jobs<T>): void {
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  for (const id of ids) void cancelOrLog(id, jobs, signal);
}

/** The job is paid for, so a failed cancel is worth a log line: the operator may still stop it. */
async function cancelOrLog<T>(id: string, jobs: Jobs<T>, signal: AbortSignal): Promise<void> {
  const { provider, taskId } = jobs;
  try {
    await jobs.cancel(id, signal);
  } catch (error) {
    logger.warn({
      event: 'upstream.cancel_failed',
      task_id: taskId,
      provider,
      upstream_id: id,
      cause: networkCause(provider, error),
    });
  }
}

function idsIn(upstreamId: string): string[] {
  return upstreamId.split(',').filter((id) => id !== '' && id !== INTENT);
}
