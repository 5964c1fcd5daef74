import { createStore } from '../store.ts';

/**
 * How the page gets events. `polling`: by reads, because no socket opens. `waiting`: it connects again at `retryAt`, in
 * unix milliseconds. `paused`: the page is hidden.
 */
export type Connection =
  { state: 'connecting' | 'live' | 'polling' | 'offline' | 'paused' } | { state: 'waiting'; retryAt: number };

const current = createStore<Connection>({ state: 'connecting' });
export const { get: connection, subscribe: onConnection } = current;
/** Whether the service answers, by the socket or to reads. */
export const isAnswered = (): boolean => ['live', 'polling'].includes(current.get().state);
let lastEventAt = Date.now();
let retryNow: (() => void) | null = null;

/** Unix milliseconds at which live updates ended last, or at which the page was loaded. */
export const upToDateAt = (): number => lastEventAt;

export function setConnection(next: Connection): void {
  const { state } = current.get();
  if (state === 'live' && next.state !== 'live') lastEventAt = Date.now();
  if (next.state !== state || next.state === 'waiting') current.set(next);
}

/** Waits for `ms`. The wait ends early when the user asks for it, or when the network is back. */
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
