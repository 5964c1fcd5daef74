import { WORK_BUCKETS } from '../platform/observe/measuring/buckets.ts';
import { counter, histogram, OperatorCounts } from '../platform/observe/measuring/declare.ts';
import { PROVIDER_NAMES, type ProviderName } from './bindings/binding.ts';
import { ProviderError, UnsupportedRequest } from './contract/provider.ts';

const submits = counter(
  'darkroom_provider_submits_total',
  'Paid calls that a task was submitted with: the upstream has accepted it, certainly not, or that is unknown.',
  ['provider', 'spent'],
);

const passedOver = counter(
  'darkroom_provider_passed_over_total',
  'Bindings that did not serve a task, so that the next one was tried.',
  ['provider', 'reason'],
);

const placeWait = histogram(
  'darkroom_provider_place_wait_seconds',
  'Time for which a task waited for its provider before it was submitted; 0 for one that did not wait.',
  WORK_BUCKETS,
  ['provider'],
);

/**
 * Counts runs at providers by model, provider and, for a failure, the code of the failure. Spaces separate the parts of
 * a name.
 */
export const runsByProvider = new OperatorCounts();

/** The number of unfinished runs of this process at each provider. */
export const inFlight = new Map<ProviderName, number>(PROVIDER_NAMES.map((name) => [name, 0]));

export async function whileInFlight<Result>(provider: ProviderName, run: () => Promise<Result>): Promise<Result> {
  inFlight.set(provider, (inFlight.get(provider) ?? 0) + 1);
  try {
    return await run();
  } finally {
    inFlight.set(provider, (inFlight.get(provider) ?? 1) - 1);
  }
}

export function submitted(provider: string, spent: 'nothing' | 'accepted' | 'unknown'): void {
  submits.inc({ provider, spent });
}

/** @param error an UnsupportedRequest or a ProviderError; any other value: the binding is at its concurrency limit */
export function bindingPassedOver(provider: string, error: unknown): void {
  passedOver.inc({ provider, reason: reasonOf(error) });
}

/** @param error null: the run succeeded */
export function runEnded(model: string, provider: string, error: unknown): void {
  if (error === null) runsByProvider.add(`${model} ${provider}`);
  // No failure of the provider: a success, which is counted above, an error of this service, or an open circuit.
  if (!(error instanceof ProviderError) || error.cause === CIRCUIT_OPEN) return;
  runsByProvider.add(`${model} ${provider} ${error.code}`);
}

function reasonOf(error: unknown): string {
  if (error instanceof UnsupportedRequest) return 'unsupported';
  if (!(error instanceof ProviderError)) return 'full';
  return error.cause === CIRCUIT_OPEN ? 'circuit_open' : error.code;
}

/** The cause of a ProviderError with which a circuit refuses a call. */
export const CIRCUIT_OPEN = 'The circuit is open.';

export function waitedForPlace(provider: string, seconds: number): void {
  placeWait.observe({ provider }, Math.max(0, seconds));
}
