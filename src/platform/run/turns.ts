/**
 * Lets a few pieces of work run at a time. Owners take turns, so an owner with much work delays another owner by one
 * piece, not by all.
 */
export class Turns {
  /** The waiting work of each owner, in the order of the owners' turns. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private busy = 0;

  /** @param atOnce how many pieces of work run at a time */
  constructor(private readonly atOnce = 1) {}

  /** @throws the signal's reason when it aborts before the turn; otherwise the error of `work` */
  async take<Result>(owner: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const leave = await this.enter(owner, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /**
   * Waits for a turn.
   * @returns a function to call once, when the work is over
   * @throws the signal's reason when it aborts before the turn
   */
  async enter(owner: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.busy >= this.atOnce) await this.turnOf(owner, signal);
    else this.busy += 1;
    if (!signal.aborted) return () => this.passOn();
    this.passOn();
    throw signal.reason;
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

  /** Starts the next piece of work. Its owner then waits behind all other owners. */
  private passOn(): void {
    const [next] = this.waiting;
    if (!next) {
      this.busy -= 1;
      return;
    }
    const [owner, [start, ...rest]] = next;
    this.waiting.delete(owner);
    this.setWaiting(owner, rest);
    start?.();
  }
}
