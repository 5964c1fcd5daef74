import { isResultUnwanted, type Run } from '../contract/provider.ts';

/** Less than the 1 s within which a run must settle after its abort. */
const SETTLE_MS = 800;

export interface Accepted {
  /** The upstream's id of the job. */
  id: string;
  requestId: string | null;
}

interface LateJobHandlers {
  cancel: (id: string) => Promise<void>;
  /** Records the job for the next claim of the task. */
  record: (job: Accepted) => Promise<void>;
}

/**
 * Awaits a paid call that is in flight. An abort does not interrupt the call, because the id of a job that it may have
 * created would be lost. If necessary the call continues in the background. Its job is then cancelled, or recorded for
 * the next claim.
 * @throws the reason of the run's signal, at most 0.8 s after it has aborted
 */
export async function submitOnce(run: Run, call: Promise<Accepted>, late: LateJobHandlers): Promise<Accepted> {
  const { signal } = run;
  const settleLateJob = (job: Accepted) => (isResultUnwanted(signal.reason) ? late.cancel(job.id) : late.record(job));
  const overdue = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = () => {
    timer = setTimeout(() => overdue.reject(signal.reason), SETTLE_MS);
  };
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const job = await Promise.race([call, overdue.promise]);
    if (!signal.aborted) return job;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
  const settled = call.then(settleLateJob).catch(() => undefined); // best effort: the run has ended
  await Promise.race([settled, overdue.promise]).catch(() => undefined);
  clearTimeout(timer);
  throw signal.reason;
}
