import { outsideOfRequests } from '../observe/logging/request-context.ts';

/** Gives the last value, or reads the value again if the last one is too old. Concurrent callers share one read. */
export class Sampled<Value> {
  private last: { value: Value; readAtMs: number } | undefined;
  private reading: Promise<Value> | undefined;

  /**
   * @param read its error goes to all callers that wait for the value
   * @param maxAgeMs how old a value may be
   */
  constructor(
    private readonly read: () => Promise<Value>,
    private readonly maxAgeMs: number,
  ) {}

  get(): Promise<Value> | Value {
    if (this.last && performance.now() - this.last.readAtMs < this.maxAgeMs) return this.last.value;
    return (this.reading ??= outsideOfRequests(() => this.refresh()));
  }

  /** The value that was read last, however old; undefined before the first. */
  get latest(): Value | undefined {
    return this.last?.value;
  }

  private async refresh(): Promise<Value> {
    const readAtMs = performance.now();
    try {
      const value = await this.read();
      this.last = { value, readAtMs };
      return value;
    } finally {
      this.reading = undefined;
    }
  }
}
