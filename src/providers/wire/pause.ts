/**
 * Waits.
 * @throws the reason of the signal as soon as it is aborted
 */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise: over, resolve: end } = Promise.withResolvers<unknown>();
  const timer = setTimeout(end, ms);
  signal.addEventListener('abort', end);
  await over;
  clearTimeout(timer);
  signal.removeEventListener('abort', end);
  signal.throwIfAborted();
}
