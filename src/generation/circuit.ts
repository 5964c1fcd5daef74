import {
  BrokenCircuitError,
  type CircuitBreakerPolicy,
  circuitBreaker,
  ConsecutiveBreaker,
  handleWhen,
} from 'cockatiel';
import { ProviderError } from './provider.ts';

/** Failures in a row that open a circuit, and how long it stays open before one call tries again; milliseconds. */
const FAILURES = 5;
const OPEN_MS = 5_000;

/** Only what says that the upstream is away counts: a refusal is an answer, and so is a job that it took and then failed. */
const isAway = (error: unknown): boolean =>
  error instanceof ProviderError &&
  error.spent !== 'accepted' &&
  (error.code === 'provider_unavailable' || error.code === 'provider_timeout');

/** Stops asking an upstream that is away, in this process. */
export class Circuit {
  private readonly policy: CircuitBreakerPolicy = circuitBreaker(handleWhen(isAway), {
    halfOpenAfter: OPEN_MS,
    breaker: new ConsecutiveBreaker(FAILURES),
  });

  /** @param onChange told when the circuit opens (true) and closes again */
  constructor(onChange: (open: boolean) => void) {
    this.policy.onBreak(() => onChange(true));
    this.policy.onReset(() => onChange(false));
  }

  /** @throws ProviderError provider_unavailable with nothing spent while the circuit is open; otherwise what `call` throws */
  async execute<Result>(call: () => Promise<Result>): Promise<Result> {
    try {
      return await this.policy.execute(call);
    } catch (error) {
      if (!(error instanceof BrokenCircuitError)) throw error;
      throw new ProviderError('provider_unavailable', { spent: 'nothing', cause: 'The circuit is open.' });
    }
  }
}
