import type { RateBucket } from '../access/caller.ts';

export const WINDOW_S = 60;
/**
 * The share of a limit that one lease takes, rounded down, but at least one point. A fully used minute takes about 50
 * statements, and up to 99 if the limit is below 100. A process that leases a share and then gets no more requests
 * wastes at most 2 % of a limit of 50 or more.
 */
const LEASED_SHARE = 0.02;

/**
 * What one process may still admit in the current minute of a key. It leases points from the count that all processes
 * share, and spends them without a statement per request. Times are milliseconds of `performance.now()`.
 */
export class RateWindow {
  /** Requests that wait for a lease. The next lease covers all of them. */
  waiting = 0;
  rejections = 0;
  private endsAt = 0;
  /** Points that are leased and not yet spent. */
  private points = 0;
  /** Points that no process had leased at the time of the last lease. */
  private unleased = 0;
  /** Points spent on credit while the database was unavailable. The next lease adds them to the shared count. */
  private owed = 0;

  constructor(
    readonly apiKeyId: string,
    readonly bucket: RateBucket,
    readonly limit: number,
  ) {}

  /** Whether the next request needs the shared count. An exhausted window needs no lease until it ends. */
  needsLease(now: number): boolean {
    return now >= this.endsAt || (this.points === 0 && this.unleased > 0);
  }

  /** Admits one request; false when the window is exhausted. */
  take(): boolean {
    if (this.points === 0) {
      this.rejections += 1;
      return false;
    }
    this.points -= 1;
    return true;
  }

  /** Requests left in this window, as of the last lease of this process. */
  get remaining(): number {
    return this.points + this.unleased;
  }

  msLeft(now: number): number {
    return this.endsAt - now;
  }

  /**
   * Points to request from the shared count: a share in advance, or one for each waiting request if that is more. Owed
   * points are added.
   */
  pointsToLease(now: number): number {
    if (now >= this.endsAt) this.open(now, 0);
    return this.nextShare() + this.owed;
  }

  /**
   * @param requested the value of `pointsToLease`
   * @param taken points that all processes have requested, including this request; points past the limit were not
   *   granted
   * @param endsAt not later than the end of the shared window: otherwise points would be spent in the next window
   */
  lease(requested: number, taken: number, endsAt: number): void {
    const granted = Math.min(requested, Math.max(0, this.limit - (taken - requested)));
    this.points = Math.max(0, granted - this.owed);
    this.owed = 0;
    this.unleased = Math.max(0, this.limit - taken);
    this.endsAt = endsAt;
  }

  /**
   * While the database is unavailable: grants points locally, at most the limit, and opens a window if none is open.
   */
  lendOnCredit(now: number): void {
    if (now >= this.endsAt) this.open(now + WINDOW_S * 1000, this.limit);
    const lent = Math.min(this.nextShare(), this.unleased);
    this.points += lent;
    this.unleased -= lent;
    this.owed += lent;
  }

  private open(endsAt: number, unleased: number): void {
    this.endsAt = endsAt;
    this.unleased = unleased;
    this.points = this.owed = this.rejections = 0;
  }

  private nextShare(): number {
    return Math.max(1, Math.floor(this.limit * LEASED_SHARE), this.waiting);
  }
}
