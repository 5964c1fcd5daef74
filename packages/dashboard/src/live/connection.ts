/** How the page gets events. */
export type Connection =
  { state: 'connecting' | 'live' | 'polling' | 'offline' | 'paused' } | { state: 'waiting'; retryAt: number };

let current: Connection = { state: 'connecting' };
let lastEventAt = Date.now();
let retryNow: (() => void) | null = null;
const listeners = new Set<() => void>();

export const connection = (): Connection => current;

/** Unix milliseconds of the last sign that the shown state is right. */
export const upToDateAt = (): number => lastEventAt;

export function onConnection(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function setConnection(next: Connection): void {
  if (current.state === 'live' && next.state !== 'live') lastEventAt = Date.now();
  if (next.state === current.state && next.state !== 'waiting') return;
  current = next;
  for (const listener of listeners) listener();
}

/** Waits. Ends early when the user asks for it, or when the network is back. */
export function pauseBeforeRetry(ms: number): Promise<void> {
  setConnection({ state: navigator.onLine ? 'waiting' : 'offline', retryAt: Date.now() + ms });
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      retryNow = null;
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    retryNow = done;
  });
}

export const reconnectNow = (): void => retryNow?.();
