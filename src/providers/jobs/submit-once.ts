import type { StopReason } from '../../generation/run/running-tasks.ts';
import type { Run } from '../provider.ts';

/** A run must settle within 1 s of its abort. */
const SETTLE_MS = 800;

/** Nobody will ever want the result: the upstream may be told. After the other reasons a successor goes on with the job. */
const UNWANTED: readonly unknown[] = ['ended', 'deadline'] satisfies StopReason[];

export interface Accepted {
  /** The upstream's name of the job. */
  id: string;
  requestId: string | null;
}

/**
 * Waits for a paid call that is under way. An abort does not break it off, for then nobody would learn the name of the job it
 * may have made: the call goes on, for a while in the background, and its job is cancelled, or noted for a successor.
 * @throws the reason of the run's signal, at most 0.8 s after it has aborted
 */
export async function submitOnce(
  run: Run,
  call: Promise<Accepted>,
  late: { cancel: (id: string) => Promise<void>; note: (job: Accepted) => Promise<void> },
): Promise<Accepted> {
  const { signal } = run;
  const tidy = ({ id, ...job }: Accepted) =>
    UNWANTED.includes(signal.reason) ? late.cancel(id) : late.note({ id, ...job });
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
  const tidied = call.then(tidy).catch(() => undefined); // best effort: the run is over
  await Promise.race([tidied, overdue.promise]).catch(() => undefined);
  clearTimeout(timer);
  throw signal.reason;
}
