import { OutboundError } from './outbound-error.ts';

/**
 * Gives work a hard deadline, and settles by then even if the work ignores its signal.
 * @param parent aborts the work earlier; its reason is then thrown unchanged
 * @throws OutboundError timeout
 */
export async function withTimeout<T>(
  ms: number,
  parent: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  parent?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const cancel = () => controller.abort(parent?.reason);
  const timer = setTimeout(() => controller.abort(new OutboundError('timeout', `not done within ${ms} ms`)), ms);
  parent?.addEventListener('abort', cancel, { once: true });
  try {
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return await Promise.race([work(signal), aborted]);
  } catch (error) {
    // An error that the work throws after the abort is a consequence of the abort.
    throw signal.aborted ? signal.reason : error;
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener('abort', cancel);
  }
}
