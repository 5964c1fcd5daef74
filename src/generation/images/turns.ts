/**
 * Runs one piece of work at a time. Owners take turns, so an owner with much work delays another by one piece of it, not by
 * all of it.
 */
export class Turns {
  /** Waiting work by owner, in the order of their turns. */
  private readonly waiting = new Map<string, (() => void)[]>();
  private isBusy = false;

  /** @throws the signal's reason when it aborts before the turn; otherwise the error of `work` */
  async take<Result>(owner: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    if (this.isBusy) await this.turnOf(owner, signal);
    this.isBusy = true;
    try {
      signal.throwIfAborted();
      return await work();
    } finally {
      this.passOn();
    }
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

  /** The next owner goes to the end of the line. */
  private passOn(): void {
    const [next] = this.waiting;
    if (!next) {
      this.isBusy = false;
      return;
    }
    const [owner, [start, ...rest]] = next;
    this.waiting.delete(owner);
    this.setWaiting(owner, rest);
    start?.();
  }
}
