import { ProviderError } from './contract/provider.ts';
import { CIRCUIT_OPEN } from './provider-metrics.ts';

/** Failures in a row that open a circuit, and the milliseconds for which it stays open. */
const FAILURES = 5;
const OPEN_MS = 5_000;

const DOWN: readonly string[] = ['provider_unavailable', 'provider_timeout', 'provider_outcome_unknown'];

/**
 * Only a failure to answer counts. A refusal is an answer. So is the later failure of an accepted job, which has the
 * billing `charged`.
 */
const isDown = (error: ProviderError): boolean => error.billing !== 'charged' && DOWN.includes(error.code);

/**
 * Stops the calls of this process to an upstream that is down. After OPEN_MS all calls are allowed again, and the next
 * failure reopens the circuit. There is no half-open state with a single trial call, because that call may take as long
 * as a video, and all others would wait for it.
 */
export class Circuit {
  private failures = 0;
  private openUntil = -Infinity;
  private wasOpen = false;

  /**
   * @param onChange called when the circuit opens (true) and when it closes (false)
   * @param onRenewal called together with `onChange`, and for each further failure until the circuit closes
   */
  constructor(
    private readonly onChange: (open: boolean) => void,
    private readonly onRenewal: (open: boolean) => void = () => undefined,
  ) {}

  get failuresInARow(): number {
    return this.failures;
  }

  get isOpen(): boolean {
    return performance.now() < this.openUntil;
  }

  /**
   * Whether no call has got an answer since the circuit opened. It stays true when OPEN_MS is over and calls are
   * allowed again.
   */
  get isTripped(): boolean {
    return this.wasOpen;
  }

  /** Allows all calls again, as after a success. */
  reset(): void {
    this.succeeded();
  }

  /**
   * @throws ProviderError provider_unavailable, not billed, while the circuit is open; otherwise the error of `call`
   */
  async execute<Result>(call: () => Promise<Result>): Promise<Result> {
    if (this.isOpen) {
      throw new ProviderError('provider_unavailable', { billing: 'none', cause: CIRCUIT_OPEN });
    }
    try {
      const result = await call();
      this.succeeded();
      return result;
    } catch (error) {
      // An error that is no ProviderError, such as an abort, says nothing about the upstream.
      if (error instanceof ProviderError && isDown(error)) this.failed();
      else if (error instanceof ProviderError) this.succeeded();
      throw error;
    }
  }

  private failed(): void {
    this.failures += 1;
    if (this.failures >= FAILURES) {
      this.openUntil = performance.now() + OPEN_MS;
      this.setOpen(true);
    }
  }

  private succeeded(): void {
    this.failures = 0;
    this.openUntil = -Infinity;
    this.setOpen(false);
  }

  private setOpen(open: boolean): void {
    if (open || this.wasOpen) this.onRenewal(open);
    if (open === this.wasOpen) return;
    this.wasOpen = open;
    this.onChange(open);
  }
}
