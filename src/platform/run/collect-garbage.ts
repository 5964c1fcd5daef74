import { performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A process is idle if its event loop was in use for at most this share of `IDLE_MS`. */
const IDLE_UTILIZATION = 0.2;
const IDLE_MS = 3_000;

/**
 * Collects all garbage once, when the process is idle for the first time. What a start reads and compiles leaves 60 of
 * 250 MB as garbage. V8 would keep the garbage as long as the process is idle. A collection takes up to a quarter of a
 * second, in which no request is answered. Under load V8 collects by itself.
 */
export function collectGarbageWhenIdle(): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > IDLE_UTILIZATION) return;
    clearInterval(timer);
    collectGarbage();
  }, IDLE_MS).unref();
}

/**
 * Runs a collection of the kind that V8 keeps for the last resort. It also shrinks the space for new objects, which has
 * grown during the start. An ordinary collection would leave that space as large as it is.
 */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc'); // only for contexts made from now on
  const collect = runInNewContext('gc') as NodeJS.GCFunction;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
