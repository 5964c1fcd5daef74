import { ApiError } from '../../errors/api-error.ts';

interface Waiting<Item, Outcome> {
  item: Item;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

export interface BatchOptions {
  /** Items of one flush. */
  maxItems?: number;
  /** Items waiting for their flush; past that callers are refused, so that memory stays bounded. */
  maxWaiting?: number;
  /** Flushes under way at once. */
  concurrency?: number;
  /**
   * A flush takes at most half of those who wait and of those who were just answered, who will soon be back: the database works on
   * one half while this process answers the other. For callers whose answering costs about as much as their flush; where a flush
   * costs much by itself, as a turn of deliveries, fewer and larger ones are better.
   */
  splitInHalf?: boolean;
}

/** A flush this small saves less than its round trip costs, so fewer are never split. */
const WORTH_SPLITTING = 8;

/**
 * Gathers concurrent calls into one statement: while a flush is under way, the next batch collects. An idle caller
 * waits for nobody, a busy service pays one round trip and one commit for many.
 */
export class Batch<Item, Outcome> {
  private waiting: Waiting<Item, Outcome>[] = [];
  private inFlight = 0;
  private lastSize = 0;
  private scheduled = false;
  private readonly maxItems: number;
  private readonly maxWaiting: number;
  private readonly concurrency: number;
  private readonly splitInHalf: boolean;

  /** @param flush answers each item in the order given, with an error for whom it refuses; it must not answer some and throw */
  constructor(
    private readonly flush: (items: Item[]) => Promise<(Outcome | ApiError)[]>,
    { maxItems = 500, maxWaiting = 20_000, concurrency = 1, splitInHalf = false }: BatchOptions = {},
  ) {
    this.maxItems = maxItems;
    this.maxWaiting = maxWaiting;
    this.concurrency = concurrency;
    this.splitInHalf = splitInHalf;
  }

  /** @throws ApiError service_unavailable when too many wait already; otherwise what the flush threw, or answered as this item's error */
  add(item: Item): Promise<Outcome> {
    if (this.waiting.length >= this.maxWaiting) {
      return Promise.reject(new ApiError('service_unavailable', { headers: { 'retry-after': '1' } }));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  /** At the end of the loop's turn, so that the requests read in one turn share one flush. */
  private schedule(): void {
    if (this.scheduled || this.inFlight >= this.concurrency) return;
    this.scheduled = true;
    setImmediate(() => {
      this.scheduled = false;
      void this.flushNext();
    });
  }

  private async flushNext(): Promise<void> {
    const batch = this.waiting.splice(0, Math.min(this.maxItems, this.share()));
    if (batch.length === 0) return;
    this.lastSize = batch.length;
    this.inFlight += 1;
    try {
      await this.answer(batch);
    } finally {
      this.inFlight -= 1;
      if (this.waiting.length > 0) this.schedule();
    }
  }

  private share(): number {
    if (!this.splitInHalf) return this.waiting.length;
    return Math.max(WORTH_SPLITTING, Math.ceil((this.waiting.length + this.lastSize) / 2));
  }

  private async answer(batch: Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await this.flush(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, at) => {
        const outcome = outcomes[at];
        if (outcome instanceof ApiError) reject(outcome);
        else resolve(outcome as Outcome);
      });
    } catch (error) {
      if (batch.length === 1 || !isDataError(error)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // One row that PostgreSQL cannot take must not fail its neighbours: each goes alone.
      for (const one of batch) await this.answer([one]);
    }
  }
}

/** Classes 21 to 23 and 54: cardinality, data exception, constraint, program limit. The fault of a row, not of the server. */
function isDataError(error: unknown): boolean {
  const { code } = error as { code?: string };
  return typeof code === 'string' && /^(21|22|23|54)/.test(code);
}
