/**
 * Calls `act` whenever the page becomes visible again, and every `everyMs` while it is visible, until the returned
 * function is called.
 */
export function whileSeen(act: () => void, everyMs?: number): () => void {
  const listener = () => !document.hidden && act();
  document.addEventListener('visibilitychange', listener);
  const timer = everyMs && setInterval(listener, everyMs);
  return () => {
    document.removeEventListener('visibilitychange', listener);
    clearInterval(timer);
  };
}
