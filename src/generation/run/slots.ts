import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Turns } from '../../platform/run/turns.ts';

/**
 * One slot in five is reserved for API keys that have no slot in this process. If there are two to four slots, one of
 * them is reserved. One key may have at most four in five of the runs that poll without a slot, so that other keys get
 * some. The most transfers at a time are a fifth of the number of slots, rounded up.
 */
export const RESERVED_PART = 5;

/**
 * The slot of one run in this process. The run has the slot from its claim until it begins to poll without one, or to
 * its end.
 */
export interface Slot {
  /**
   * Runs `work`, which only waits for the upstream, without a slot. Afterwards the run gets a slot for transfers, in
   * which it downloads and stores. If too many runs, or too many of its key, poll already, the run keeps its first
   * slot.
   * @throws the signal's reason when it aborts before a transfer is possible; otherwise the error of `work`
   */
  polling<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
  /** Call at the end of the run. */
  leave(): void;
}

/**
 * The slots of this process. A run that computes, sends or waits for an answer has one of the WORKER_CONCURRENCY slots.
 * Runs that only poll a job have none: up to WORKER_POLLED_RUNS runs poll without a slot. When the job of such a run
 * has ended, the run downloads and stores in a slot for transfers.
 */
@Injectable()
export class Slots {
  private readonly taken = new Map<Slot, string>();
  /** The API key of each run that polls without a slot. */
  private readonly polled = new Map<Slot, string>();
  private readonly transfers: Turns;
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly config: Config) {
    this.transfers = new Turns(Math.ceil(config.workerConcurrency / RESERVED_PART));
  }

  /** How many slots of WORKER_CONCURRENCY are free. */
  get free(): number {
    return this.config.workerConcurrency - this.taken.size;
  }

  get keys(): string[] {
    return [...new Set(this.taken.values())];
  }

  /** @param listener called when a slot of WORKER_CONCURRENCY has become free */
  onFree(listener: () => void): void {
    this.listeners.push(listener);
  }

  take(apiKeyId: string): Slot {
    let endTransfer: (() => void) | null = null;
    const leave = () => {
      endTransfer?.();
      endTransfer = null;
      this.polled.delete(slot);
      if (this.taken.delete(slot)) for (const listener of this.listeners) listener();
    };
    const slot: Slot = {
      leave,
      polling: async (signal, work) => {
        if (!this.mayPoll(apiKeyId)) return work();
        leave();
        this.polled.set(slot, apiKeyId);
        try {
          return await work();
        } finally {
          // Takes a slot for transfers after a failure too, because the run may go on with another binding. After an
          // abort this code may run later than `leave`, so it removes the run from `polled` itself.
          endTransfer = await this.transfers.enter(apiKeyId, signal).finally(() => this.polled.delete(slot));
        }
      },
    };
    this.taken.set(slot, apiKeyId);
    return slot;
  }

  /** Whether a run of the key may poll without a slot. A key leaves a part of the polled runs to others. */
  private mayPoll(apiKeyId: string): boolean {
    const most = this.config.workerPolledRuns;
    if (this.polled.size >= most) return false;
    const ofKey = [...this.polled.values()].filter((each) => each === apiKeyId).length;
    return ofKey < Math.max(1, most - Math.floor(most / RESERVED_PART));
  }
}
