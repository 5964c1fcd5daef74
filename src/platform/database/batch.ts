import { ApiError } from '../../errors/api-error.ts';
import { outsideOfRequests } from '../observe/logging/request-context.ts';
import { activeSpan, errorTypeOf } from '../observe/traces/span.ts';
import { traces } from '../observe/traces/traces.ts';
import { SIZE_BUCKETS, STATEMENT_BUCKETS } from '../observe/measuring/buckets.ts';
import { histogram } from '../observe/measuring/declare.ts';
import type { Metrics } from '../observe/measuring/metrics.ts';

interface Pending<Item, Outcome> {
  item: Item;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
  /** When the item came, on the monotonic clock. */
  sinceMs: number;
  /** Link to the span of the caller; null when this span is not sampled. */
  link: string | null;
}

export interface BatchOptions {
  /** Name of the statement, for spans and metrics. A batch without a name has no metrics. */
  name?: string;
  /** Maximum number of items per flush. */
  maxItems?: number;
  /** Maximum number of items that wait for a flush. `add` rejects further items, so that memory stays bounded. */
  maxWaiting?: number;
  /** Maximum number of flushes in flight. */
  concurrency?: number;
  /**
   * Limits a flush to half of these items: those that wait, and those of the last flush. PostgreSQL then works on one
   * half while Node answers the callers of the other half, who will soon add again. Use this where answering costs
   * about as much as a flush. If a flush is expensive, as for webhook deliveries, fewer and larger flushes are better.
   */
  splitInHalf?: boolean;
  /**
   * Minimum milliseconds from the end of a flush to the next flush, so that more items share a flush. After a longer
   * pause, a call is flushed at once. Use this where a flush costs much more than one more item.
   */
  minIntervalMs?: number;
  /**
   * Whether all items are of one API key. Then the flushes use only the share of this key in the connections of the
   * pool.
   */
  isOfOneKey?: boolean;
}

/** Splitting fewer items costs more in round trips than it saves. */
const MIN_SPLIT_ITEMS = 8;

/**
 * Gathers concurrent calls into one statement: while a flush is in flight, calls collect for the next one. An idle
 * service flushes at once. A busy service pays one round trip and one commit for many calls.
 */
export class Batch<Item, Outcome> {
  private waiting: Pending<Item, Outcome>[] = [];
  private inFlight = 0;
  private lastSize = 0;
  private scheduled = false;
  /** Earliest time of the next flush, on the monotonic clock. */
  private nextAtMs = 0;
  private readonly name: string;
  private readonly maxItems: number;
  private readonly maxWaiting: number;
  private readonly concurrency: number;
  private readonly splitInHalf: boolean;
  private readonly minIntervalMs: number;
  private readonly isOfOneKey: boolean;
  private readonly load: BatchLoad | null;

  /**
   * @param flush returns one outcome per item, in the same order; an ApiError rejects that item alone. `flush` throws
   *   only when no item took effect.
   */
  constructor(
    private readonly flush: (items: Item[]) => Promise<(Outcome | ApiError)[]>,
    {
      name,
      maxItems = 500,
      maxWaiting = 20_000,
      concurrency = 1,
      splitInHalf = false,
      minIntervalMs = 0,
      isOfOneKey = false,
    }: BatchOptions = {},
  ) {
    this.name = name ?? 'batch';
    this.maxItems = maxItems;
    this.maxWaiting = maxWaiting;
    this.concurrency = concurrency;
    this.splitInHalf = splitInHalf;
    this.minIntervalMs = minIntervalMs;
    this.isOfOneKey = isOfOneKey;
    this.load = name === undefined ? null : batchLoad(name);
  }

  /**
   * Adds an item to the next flush.
   * @returns the outcome of the item
   * @throws ApiError service_unavailable when `maxWaiting` is reached; otherwise the error of the flush or of this item
   */
  add(item: Item): Promise<Outcome> {
    if (this.waiting.length >= this.maxWaiting) {
      return Promise.reject(new ApiError('service_unavailable', { retryAfterS: 1 }));
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject, sinceMs: performance.now(), link: traces.link() });
      if (this.load) this.load.waiting += 1;
      this.schedule();
    });
  }

  /**
   * Schedules a flush for the end of the event loop's turn, so that all requests read in one turn share the flush. With
   * `minIntervalMs` the flush may come later.
   */
  private schedule(): void {
    if (this.scheduled || this.inFlight >= this.concurrency) return;
    this.scheduled = true;
    const flush = () => {
      this.scheduled = false;
      void (this.isOfOneKey ? this.flushNext() : outsideOfRequests(() => this.flushNext()));
    };
    const minIntervalMs = this.nextAtMs - performance.now();
    if (minIntervalMs > 0) setTimeout(flush, minIntervalMs);
    else setImmediate(flush);
  }

  private async flushNext(): Promise<void> {
    const batch = this.waiting.splice(0, Math.min(this.maxItems, this.nextSize()));
    if (batch.length === 0) return;
    if (this.load) {
      this.load.waiting -= batch.length;
      flushed(this.load, batch.length, batch[0]!.sinceMs);
    }
    this.lastSize = batch.length;
    this.inFlight += 1;
    const answer = await (traces.isOn ? this.runInSpan(batch) : this.run(batch));
    this.inFlight -= 1;
    if (this.minIntervalMs > 0) this.nextAtMs = performance.now() + this.minIntervalMs;
    if (this.waiting.length === 0) return answer();
    if (!this.splitInHalf) {
      answer();
      return this.schedule();
    }
    // PostgreSQL gets the next half before Node answers this half. The pool sends a statement at the end of the turn,
    // so the answers wait for the next turn.
    void this.flushNext();
    setImmediate(answer);
  }

  private nextSize(): number {
    if (!this.splitInHalf) return this.waiting.length;
    return Math.max(MIN_SPLIT_ITEMS, Math.ceil((this.waiting.length + this.lastSize) / 2));
  }

  /**
   * A flush serves many traces. So its span begins a trace of its own, with links to the sampled spans of callers. If
   * no caller has a sampled span, the flush has no span either.
   */
  private runInSpan(batch: Pending<Item, Outcome>[]): Promise<() => void> {
    const links = [...new Set(batch.flatMap(({ link }) => link ?? []))];
    const attributes = { 'darkroom.items': batch.length, 'db.operation.name': this.name };
    const own = links.length > 0 ? { isRoot: true, links, attributes } : { parent: null };
    return traces.span(this.name, own, () => this.run(batch));
  }

  /** @returns a function that resolves or rejects each caller and does not throw */
  private async run(batch: Pending<Item, Outcome>[]): Promise<() => void> {
    try {
      const outcomes = await this.flush(batch.map(({ item }) => item));
      return () =>
        batch.forEach(({ resolve, reject }, at) => {
          const outcome = outcomes[at];
          if (outcome instanceof ApiError) reject(outcome);
          else resolve(outcome as Outcome);
        });
    } catch (error) {
      activeSpan()?.fail(errorTypeOf(error));
      if (batch.length === 1 || !isDataError(error)) return () => batch.forEach(({ reject }) => reject(error));
      // One row that PostgreSQL rejects must not fail the others: flush each item alone.
      for (const one of batch) (await this.run([one]))();
      return () => undefined;
    }
  }
}

/**
 * SQLSTATE classes 21 to 23 and 54: cardinality, data exception, constraint, program limit. A row causes these errors,
 * not the server.
 */
function isDataError(error: unknown): boolean {
  const { code } = error as { code?: string };
  return typeof code === 'string' && /^(21|22|23|54)/.test(code);
}

const items = histogram('darkroom_batch_items', 'Items of one flush of a batch.', SIZE_BUCKETS, ['batch']);

const waitSeconds = histogram(
  'darkroom_batch_wait_seconds',
  'Time for which the first item of a flush waited for it.',
  STATEMENT_BUCKETS,
  ['batch'],
);

/** The load of all batches with the same name. */
export interface BatchLoad {
  readonly batch: string;
  /** Items that wait for a flush. */
  waiting: number;
}

const loads = new Map<string, BatchLoad>();

/** @param batch a constant of the program, such as `tasks.create` */
export function batchLoad(batch: string): BatchLoad {
  const load = loads.get(batch) ?? { batch, waiting: 0 };
  loads.set(batch, load);
  return load;
}

/** Records a flush of `count` items. @param sinceMs when the first item came, on the monotonic clock */
export function flushed({ batch }: BatchLoad, count: number, sinceMs: number): void {
  items.observe({ batch }, count);
  waitSeconds.observe({ batch }, (performance.now() - sinceMs) / 1000);
}

export function registerBatchMetrics(metrics: Metrics): void {
  metrics.gauges('darkroom_batch_waiting', 'Items that wait for a flush of their batch.', ['batch'], (set) => {
    for (const { batch, waiting } of loads.values()) set({ batch }, waiting);
  });
}
