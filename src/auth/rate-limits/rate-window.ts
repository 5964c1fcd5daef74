/** What a request is counted as: creating a generation, or anything else done with a key. */
export type RateBucket = 'create' | 'read';

export const WINDOW_S = 60;
/** Of a limit, leased at a time: 50 statements for a minute used up, and at most 2 % left with a process that needs no more. */
const LEASED_SHARE = 0.02;

/**
 * What one process may still let through of a key's present minute. It leases points from the count that all processes
 * share and spends them by itself. Times are milliseconds of `performance.now()`.
 */
export class RateWindow {
  /** Requests that wait for a lease; it is made large enough for all of them. */
  waiting = 0;
  /** Requests of this window that were told no. */
  refused = 0;
  #endsAt = 0;
  /** Leased and not spent. */
  #points = 0;
  /** What nobody had leased when the shared count was last heard. */
  #untaken = 0;
  /** Spent on credit while the database was away; the next lease tells it. */
  #owed = 0;

  constructor(
    readonly apiKeyId: string,
    readonly bucket: RateBucket,
    readonly limit: number,
  ) {}

  /** Whether only the shared count can tell what becomes of a request. A window used up needs none until its end. */
  needsLease(now: number): boolean {
    return now >= this.#endsAt || (this.#points === 0 && this.#untaken > 0);
  }

  /** Lets one request through; false when the window is used up. */
  take(): boolean {
    if (this.#points === 0) {
      this.refused += 1;
      return false;
    }
    this.#points -= 1;
    return true;
  }

  /** How many more this window has, as far as this process has heard. */
  get remaining(): number {
    return this.#points + this.#untaken;
  }

  msLeft(now: number): number {
    return this.#endsAt - now;
  }

  /** Points to take from the shared count: for those who wait, or a share in advance, and what is owed. */
  ask(now: number): number {
    if (now >= this.#endsAt) this.#begin(now, 0);
    return this.#wanted() + this.#owed;
  }

  /**
   * @param asked what `ask` said
   * @param taken by all processes, `asked` included; what is past the limit was not granted
   * @param endsAt not later than the shared window's own end, or points would be spent in the next one
   */
  lease(asked: number, taken: number, endsAt: number): void {
    const granted = Math.min(asked, Math.max(0, this.limit - (taken - asked)));
    this.#points = Math.max(0, granted - this.#owed);
    this.#owed = 0;
    this.#untaken = Math.max(0, this.limit - taken);
    this.#endsAt = endsAt;
  }

  /** The database is away: counts by itself, for at most the limit, in a window of its own if none is known. */
  lendOnCredit(now: number): void {
    if (now >= this.#endsAt) this.#begin(now + WINDOW_S * 1000, this.limit);
    const lent = Math.min(this.#wanted(), this.#untaken);
    this.#points += lent;
    this.#untaken -= lent;
    this.#owed += lent;
  }

  #begin(endsAt: number, untaken: number): void {
    this.#endsAt = endsAt;
    this.#untaken = untaken;
    this.#points = this.#owed = this.refused = 0;
  }

  #wanted(): number {
    return Math.max(1, Math.floor(this.limit * LEASED_SHARE), this.waiting);
  }
}
