import { ProviderError } from './provider.ts';

/** Failures in a row that open a circuit, and how long it stays open; milliseconds. */
const FAILURES = 5;
const OPEN_MS = 5_000;

/** Only what says that the upstream is away counts: a refusal is an answer, and so is a job that it took and then failed. */
const isAway = (error: ProviderError): boolean =>
  error.billing !== 'charged' && (error.code === 'provider_unavailable' || error.code === 'provider_timeout');

/**
 * Stops asking an upstream that is away, in this process. When its time is up everybody may ask again, and the first failure
 * opens it anew: with a single trial call the others would have to wait for a whole film.
 */
export class Circuit {
  private failures = 0;
  private openUntil = -Infinity;
  private isOpen = false;

  /** @param onChange told when the circuit opens (true) and closes again */
  constructor(private readonly onChange: (open: boolean) => void) {}

  /** @throws ProviderError provider_unavailable with nothing spent while the circuit is open; otherwise what `call` throws */
  async execute<Result>(call: () => Promise<Result>): Promise<Result> {
    if (performance.now() < this.openUntil) {
      throw new ProviderError('provider_unavailable', { billing: 'none', cause: 'The circuit is open.' });
    }
    try {
      const result = await call();
      this.answered();
      return result;
    } catch (error) {
      // Anything else, such as an abort, says nothing of the upstream.
      if (error instanceof ProviderError && isAway(error)) this.failed();
      else if (error instanceof ProviderError) this.answered();
      throw error;
    }
  }

  private failed(): void {
    this.failures += 1;
    if (this.failures >= FAILURES) {
      this.openUntil = performance.now() + OPEN_MS;
      this.turn(true);
    }
  }

  private answered(): void {
    this.failures = 0;
    this.openUntil = -Infinity;
    this.turn(false);
  }

  private turn(open: boolean): void {
    if (open === this.isOpen) return;
    this.isOpen = open;
    this.onChange(open);
  }
}
