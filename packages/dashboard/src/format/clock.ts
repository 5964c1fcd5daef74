import { createStore } from '../store.ts';

const wholeSecond = (): number => Math.floor(Date.now() / 1_000);
const clock = createStore(wholeSecond());
const tick = (): void => clock.set(wholeSecond());
/** The timer of `onTick`, and the number of its listeners. */
let timer: ReturnType<typeof setInterval> | undefined;
let listeners = 0;

/** The time in whole unix seconds, updated once a second while `onTick` has a listener. */
export const nowS = clock.get;

export function onTick(listener: () => void): () => void {
  const stop = clock.subscribe(listener);
  if (listeners++ === 0) timer = setInterval(tick, 1_000);
  tick();
  return () => {
    stop();
    if (--listeners === 0) clearInterval(timer);
  };
}
