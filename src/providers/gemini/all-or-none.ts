import { ProviderError, type Billing } from '../provider.ts';
import { pause } from '../jobs/pause.ts';

/** How often calls that the upstream put off are made again for the sake of those that were paid. */
const ROUNDS = 3;
/** When the upstream does not say how long to wait. */
const PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

/**
 * Makes `count` pictures by as many calls at once. A result of fewer is none, so calls that surely spent nothing are repeated
 * once others have spent; any other failure stops the rest.
 * @param one makes one; heeds its signal
 * @throws the failure, which says `nothing` only when no call spent anything
 */
export async function allOrNone<T>(
  count: number,
  one: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T[]> {
  const made: T[] = [];
  for (let round = 1; ; round++) {
    const outcomes = await callTogether(count - made.length, one, signal);
    signal.throwIfAborted();
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') made.push(outcome.value);
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as unknown);
    if (failures.length === 0) return made;
    const final = failures.find((failure) => !isPutOff(failure) && !(failure instanceof Stopped));
    const billedElsewhere = made.length > 0 || failures.some((failure) => billingOf(failure) !== 'none');
    if (final !== undefined || !billedElsewhere || round === ROUNDS) {
      throw honest(final ?? failures[0], failures, made.length > 0);
    }
    await pause(waitOf(failures), signal);
  }
}

async function callTogether<T>(
  count: number,
  one: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<PromiseSettledResult<T>[]> {
  const siblings = new AbortController();
  const either = AbortSignal.any([signal, siblings.signal]);
  const calls = Array.from({ length: count }, () =>
    one(either).catch((error: unknown) => {
      // The first failure that repeating cannot mend is the one told; what it stops fails as an echo.
      if (!either.aborted && !isPutOff(error)) siblings.abort(new Stopped());
      throw error;
    }),
  );
  return Promise.allSettled(calls);
}

/** A call stopped because another failed: it may have been paid. */
class Stopped extends Error {}

const isPutOff = (failure: unknown): failure is ProviderError =>
  failure instanceof ProviderError && failure.code === 'provider_unavailable' && failure.billing === 'none';

const billingOf = (failure: unknown): Billing => (failure instanceof ProviderError ? failure.billing : 'unknown');

function honest(failure: unknown, all: unknown[], someMade: boolean): unknown {
  if (!(failure instanceof ProviderError) || failure.billing !== 'none') return failure;
  const others = all.map(billingOf).filter((billing) => billing !== 'none');
  if (!someMade && others.length === 0) return failure;
  const { code, param, message, cause, retryAfterMs } = failure;
  return new ProviderError(code, { param, message, cause, retryAfterMs, billing: someMade ? 'charged' : 'unknown' });
}

function waitOf(failures: unknown[]): number {
  const waits = failures.filter(isPutOff).map(({ retryAfterMs }) => retryAfterMs ?? PAUSE_MS);
  return Math.min(Math.max(...waits), LONGEST_PAUSE_MS);
}
