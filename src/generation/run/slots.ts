import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Turns } from '../../platform/run/turns.ts';

/**
 * One slot in five is reserved for API keys that run nothing in this process. Of the polled runs, one key may have four
 * in five. So no key takes all of them. For each five slots one transfer may run at a time.
 */
export const RESERVED_PART = 5;

/** The slot of one run in this process. The run has it from its claim to its end, except while it only polls. */
export interface Slot {
  /**
   * Runs `work`, which only waits for the upstream, without a slot. Afterwards the run gets a slot for transfers, in
   * which it downloads and stores. The run keeps its first slot if too many runs poll already.
   * @throws the signal's reason when it aborts before a transfer is possible; otherwise the error of `work`
   */
  polling<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
  /** Call at the end of the run. */
  leave(): void;
}

/**
 * The slots of this process. A run that computes, sends or waits for an answer has one of WORKER_CONCURRENCY. Runs that
 * only poll a job have none: up to WORKER_POLLED_RUNS of them wait without a slot. When the job of such a run has
 * ended, it downloads and stores in a slot for transfers, which no hanging call can take.
 */
@Injectable()
export class Slots {
  private readonly taken = new Map<Slot, string>();
  /** The API key of each run that polls. */
  private readonly polled = new Map<Slot, string>();
  private readonly transfers: Turns;
  private readonly listeners: (() => void)[] = [];

  constructor(private readonly config: Config) {
    this.transfers = new Turns(Math.ceil(config.workerConcurrency / RESERVED_PART));
  }

  /** How many tasks may be claimed now. */
  get free(): number {
    return this.config.workerConcurrency - this.taken.size;
  }

  /** The API keys that have a slot. */
  get keys(): string[] {
    return [...new Set(this.taken.values())];
  }

  /** @param listener called when a slot has become free */
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
          // Enters also after a failure, because the run may go on with another binding. After an abort this may run
          // later than `leave`, so nothing may stay behind.
          endTransfer = await this.transfers.enter(apiKeyId, signal).finally(() => this.polled.delete(slot));
        }
      },
    };
    this.taken.set(slot, apiKeyId);
    return slot;
  }

  /** A key that polls very many jobs leaves a part of the polled runs to others. */
  private mayPoll(apiKeyId: string): boolean {
    const most = this.config.workerPolledRuns;
    if (this.polled.size >= most) return false;
    const ofKey = [...this.polled.values()].filter((each) => each === apiKeyId).length;
    return ofKey < Math.max(1, most - Math.floor(most / RESERVED_PART));
  }
}
