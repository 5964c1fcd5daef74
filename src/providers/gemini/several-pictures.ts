import { pause } from '../wire/pause.ts';
import { ProviderError, type Billing } from '../contract/provider.ts';

/**
 * The most rounds of calls. Once a call was billed, calls that were refused without billing are repeated, so that the
 * request gets all its pictures.
 */
const MAX_ROUNDS = 6;
/** The pause before the second round, if the upstream does not ask for another one. It doubles with each round. */
const FIRST_PAUSE_MS = 2_000;
const MAX_PAUSE_MS = 30_000;

interface Several<T> {
  /** At least one. */
  made: T[];
  /** The number of calls that made nothing and may have been billed. */
  unknown: number;
}

/**
 * Makes `count` pictures by as many parallel calls. If no call was billed, a busy upstream is a failure, so that
 * another upstream may serve the request. Once a call was billed, the calls that a busy upstream refused without
 * billing are repeated. The pictures that were made are kept, even if they are fewer than `count`.
 * @param makeOne makes one picture, and stops when its signal aborts
 * @throws the failure when nothing was made; its billing is `none` only when no call was billed
 */
export async function makeSeveral<T>(
  count: number,
  makeOne: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
): Promise<Several<T>> {
  const made: T[] = [];
  const failures: unknown[] = [];
  for (let round = 1; ; round++) {
    const outcomes = await callInParallel(count - made.length - failures.length, makeOne, signal);
    signal.throwIfAborted();
    for (const outcome of outcomes) if (outcome.status === 'fulfilled') made.push(outcome.value);
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []));
    failures.push(...reasons.filter((reason) => !isBusy(reason)));
    const busy = reasons.filter(isBusy);
    const isBilled = made.length > 0 || failures.some((failure) => billingOf(failure) !== 'none');
    if (busy.length > 0 && isBilled && round < MAX_ROUNDS) {
      await pause(pauseAfter(busy, round), signal);
      continue;
    }
    failures.push(...busy);
    if (made.length > 0) return { made, unknown: failures.filter((each) => billingOf(each) === 'unknown').length };
    throw withCombinedBilling(failures);
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
      // This call was refused, and its siblings would be refused too, so they are aborted. Any other failure says
      // nothing about the siblings.
      if (!either.aborted && billingOf(error) === 'none' && !isBusy(error)) siblings.abort(new AbortedBySibling());
      throw error;
    }),
  );
  return Promise.allSettled(calls);
}

/** A call was aborted because another call was refused. The aborted one may have been billed. */
class AbortedBySibling extends Error {}

const isBusy = (failure: unknown): failure is ProviderError =>
  failure instanceof ProviderError && failure.code === 'provider_unavailable' && failure.billing === 'none';

const billingOf = (failure: unknown): Billing => (failure instanceof ProviderError ? failure.billing : 'unknown');

/**
 * The first failure that is neither a busy upstream nor an aborted call, or else the first one. Its billing becomes the
 * worst of all: `unknown`, else `charged`, else `none`.
 */
function withCombinedBilling(failures: unknown[]): unknown {
  const isOwn = (failure: unknown) => !isBusy(failure) && !(failure instanceof AbortedBySibling);
  const main = failures.find(isOwn) ?? failures[0];
  const all = failures.map(billingOf);
  const billing = (['unknown', 'charged'] as const).find((each) => all.includes(each)) ?? 'none';
  if (!(main instanceof ProviderError) || main.billing === billing) return main;
  const { code, param, message, cause } = main;
  return new ProviderError(code, { param, message, cause, billing });
}

function pauseAfter(busy: ProviderError[], round: number): number {
  const asked = busy.map(({ retryAfterMs }) => retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (round - 1));
  return Math.min(Math.max(...asked), MAX_PAUSE_MS);
}
