/**
 * Lets a few pieces of work run at a time. Owners take turns, so an owner with much work delays another owner by one
 * piece, not by all.
 */
export class Turns {
  /** The waiting work of each owner, in the order of the owners' turns. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private busy = 0;
  private readonly busyOf = new Map<string, number>();

  private readonly ofOwner: number;
  private readonly kept: number;

  /**
   * @param atOnce how many pieces of work run at a time
   * @param options.ofOwner how many of them may be of one owner; by default all
   * @param options.kept how many of the turns are only for owners without a running piece; by default none
   */
  constructor(
    private readonly atOnce = 1,
    { ofOwner = atOnce, kept = 0 }: { ofOwner?: number; kept?: number } = {},
  ) {
    this.ofOwner = ofOwner;
    this.kept = kept;
  }

  /**
   * Waits for a turn, then runs `work`.
   * @throws the signal's reason when it aborts before the turn; otherwise the error of `work`
   */
  async take<Result>(owner: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter(owner, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** @returns a function to call once, when the work is over; null if no turn is free */
  tryEnter(owner: string): (() => void) | null {
    if (!this.mayStart(owner)) return null;
    this.count(owner, 1);
    return () => this.passOn(owner);
  }

  /**
   * Waits for a turn.
   * @returns a function to call once, when the work is over
   * @throws the signal's reason when it aborts before the turn
   */
  async enter(owner: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const leave = this.tryEnter(owner);
    if (leave) return leave;
    await this.turnOf(owner, signal);
    if (!signal.aborted) return () => this.passOn(owner);
    this.passOn(owner);
    throw signal.reason;
  }

  private mayStart(owner: string): boolean {
    const own = this.busyOf.get(owner) ?? 0;
    return own < this.ofOwner && this.busy < this.atOnce - (own === 0 ? 0 : this.kept);
  }

  private count(owner: string, by: 1 | -1): void {
    this.busy += by;
    const busy = (this.busyOf.get(owner) ?? 0) + by;
    if (busy > 0) this.busyOf.set(owner, busy);
    else this.busyOf.delete(owner);
  }

  private async turnOf(owner: string, signal: AbortSignal): Promise<void> {
    const turn = Promise.withResolvers<void>();
    const leave = () => {
      this.setWaiting(
        owner,
        (this.waiting.get(owner) ?? []).filter((each) => each !== turn.resolve),
      );
      turn.reject(signal.reason);
    };
    this.setWaiting(owner, [...(this.waiting.get(owner) ?? []), turn.resolve]);
    signal.addEventListener('abort', leave, { once: true });
    await turn.promise.finally(() => signal.removeEventListener('abort', leave));
  }

  private setWaiting(owner: string, work: (() => void)[]): void {
    if (work.length > 0) this.waiting.set(owner, work);
    else this.waiting.delete(owner);
  }

  /**
   * Ends a piece of work and starts what may run now. More than one piece may start: an owner without running work may
   * use the kept turns.
   */
  private passOn(ended: string): void {
    this.count(ended, -1);
    while (this.startNext());
  }

  /** Starts the next piece of work. Its owner then waits behind all other owners. */
  private startNext(): boolean {
    for (const [owner, [start, ...rest]] of this.waiting) {
      if (!this.mayStart(owner)) continue;
      this.waiting.delete(owner);
      this.setWaiting(owner, rest);
      this.count(owner, 1);
      start?.();
      return true;
    }
    return false;
  }
}
