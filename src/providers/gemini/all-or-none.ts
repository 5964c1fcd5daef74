import { pause } from '../wire/pause.ts';
import { ProviderError, type Billing } from '../contract/provider.ts';

/** How many times calls are made in all: unbilled ones are retried for the sake of those that were billed. */
const MAX_ROUNDS = 3;
/** When the upstream gives no retry delay. */
const DEFAULT_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Makes `count` pictures by as many parallel calls. A partial result is worthless, so once any call was billed, calls
 * that the upstream throttled without billing are retried. Any other failure aborts the rest.
 * @param makeOne makes one; respects its signal
 * @throws the failure; its billing is `none` only when no call was billed
 */
export async function allOrNone<T>(
  count: number,
  makeOne: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<T[]> {
  const made: T[] = [];
  for (let round = 1; ; round++) {
    const outcomes = await callInParallel(count - made.length, makeOne, signal);
    signal.throwIfAborted();
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') made.push(outcome.value);
    const failures = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as unknown);
    if (failures.length === 0) return made;
    const final = failures.find((failure) => !isThrottled(failure) && !(failure instanceof AbortedBySibling));
    const billedElsewhere = made.length > 0 || failures.some((failure) => billingOf(failure) !== 'none');
    if (final !== undefined || !billedElsewhere || round === MAX_ROUNDS) {
      throw withCombinedBilling(final ?? failures[0], failures, made.length > 0);
    }
    await pause(pauseAfter(failures), signal);
  }
}

async function callInParallel<T>(
  count: number,
  makeOne: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<PromiseSettledResult<T>[]> {
  const siblings = new AbortController();
  const either = AbortSignal.any([signal, siblings.signal]);
  const calls = Array.from({ length: count }, () =>
    makeOne(either).catch((error: unknown) => {
      // Only the first failure that a retry cannot mend is reported; it aborts the calls still in flight.
      if (!either.aborted && !isThrottled(error)) siblings.abort(new AbortedBySibling());
      throw error;
    }),
  );
  return Promise.allSettled(calls);
}

/** A call was aborted because another failed. It may have been billed. */
class AbortedBySibling extends Error {}

const isThrottled = (failure: unknown): failure is ProviderError =>
  failure instanceof ProviderError && failure.code === 'provider_unavailable' && failure.billing === 'none';

const billingOf = (failure: unknown): Billing => (failure instanceof ProviderError ? failure.billing : 'unknown');

/** Corrects the billing of an unbilled failure when another call was, or may have been, billed. */
function withCombinedBilling(failure: unknown, all: unknown[], someMade: boolean): unknown {
  if (!(failure instanceof ProviderError) || failure.billing !== 'none') return failure;
  const billed = all.map(billingOf).filter((billing) => billing !== 'none');
  if (!someMade && billed.length === 0) return failure;
  const { code, param, message, cause, retryAfterMs } = failure;
  return new ProviderError(code, { param, message, cause, retryAfterMs, billing: someMade ? 'charged' : 'unknown' });
}

function pauseAfter(failures: unknown[]): number {
  const pauses = failures.filter(isThrottled).map(({ retryAfterMs }) => retryAfterMs ?? DEFAULT_PAUSE_MS);
  return Math.min(Math.max(...pauses), MAX_PAUSE_MS);
}
