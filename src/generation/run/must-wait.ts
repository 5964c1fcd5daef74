import type { ClaimedTask } from '../../tasks/record/lease.ts';
import type { HoldReason } from '../../tasks/record/moment.ts';

/**
 * Seconds before jitter. A task asks a full provider again after 0.5 to 5 s, and an unavailable or paused one after 0.5
 * to 30 s.
 */
const MIN_WAIT_S = 0.5;
const MAX_PLACE_WAIT_S = 5;
const MAX_AWAY_WAIT_S = 30;
/** Upper bound of an upstream's Retry-After. */
const MAX_RETRY_AFTER_S = 60;

/**
 * The run has to wait, mostly for its provider. The task is given back, and a worker claims it again when the time is
 * over.
 */
export class MustWait extends Error {
  override name = 'MustWait';

  constructor(
    readonly seconds: number,
    readonly reason: HoldReason = 'provider_limit',
  ) {
    super(`The task waits ${seconds} s for its provider.`);
  }
}

/** The provider is at its concurrency limit, or there is no room for reference images. */
export function waitForPlace(task: ClaimedTask): MustWait {
  return new MustWait(pauseOf(task, MAX_PLACE_WAIT_S));
}

/** An operator has paused the provider. Other bindings, if there are any, did not serve the task. */
export function waitForPause(task: ClaimedTask): MustWait {
  return new MustWait(pauseOf(task, MAX_AWAY_WAIT_S), 'pause');
}

/** @param retryAfterMs the wait that the upstream asked for, if it asked for one */
export function waitForProvider(task: ClaimedTask, retryAfterMs: number | undefined): MustWait {
  if (retryAfterMs === undefined) return new MustWait(pauseOf(task, MAX_AWAY_WAIT_S));
  return new MustWait(Math.min(Math.max(retryAfterMs / 1000, MIN_WAIT_S), MAX_RETRY_AFTER_S));
}

/**
 * The pause grows with the time since the task's first start, so that many waiting tasks cost little. The pause has a
 * jitter of ±20 %.
 */
function pauseOf({ started_at: startedAt }: ClaimedTask, maxS: number): number {
  const ageS = startedAt ? (Date.now() - startedAt.getTime()) / 1000 : 0;
  const seconds = Math.min(Math.max(ageS / 10, MIN_WAIT_S), maxS);
  return seconds * (0.8 + 0.4 * Math.random());
}
