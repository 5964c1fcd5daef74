/** Between two claims of a busy worker: the statement costs PostgreSQL as much as ten of its rows. */
const REST_MS = 5;
/** Between claims of reserved places: a busy worker makes them in vain for each of a busy key's tasks. */
const RESERVED_CLAIM_MS = 100;

/** How long the claims of a process rest between each other. One that comes alone does not wait. */
export class ClaimRests {
  /** Both on the monotonic clock. */
  private nextMs = 0;
  private nextReservedMs = 0;

  /** Milliseconds until the next claim; 0 or less: it may be made. */
  get leftMs(): number {
    return this.nextMs - performance.now();
  }

  /** Call after each claim. */
  begin(): void {
    this.nextMs = performance.now() + REST_MS;
  }

  /** @returns milliseconds until the next claim of reserved places; 0: it is made now, and begins the rest */
  beginReserved(): number {
    const nowMs = performance.now();
    if (nowMs < this.nextReservedMs) return this.nextReservedMs - nowMs;
    this.nextReservedMs = nowMs + RESERVED_CLAIM_MS;
    return 0;
  }
}
