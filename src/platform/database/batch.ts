import { ApiError } from '../../errors/api-error.ts';
import { activeSpan, errorTypeOf } from '../observe/traces/span.ts';
import { traces } from '../observe/traces/traces.ts';
import { SIZE_BUCKETS, STATEMENT_BUCKETS } from '../observe/measuring/buckets.ts';
import { histogram } from '../observe/measuring/declare.ts';
import type { Metrics } from '../observe/measuring/metrics.ts';

interface Pending<Item, Outcome> {
  item: Item;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
  /** When it came, on the monotonic clock. */
  sinceMs: number;
  /** Of the span of the caller; null when it is not sampled. */
  link: string | null;
}

export interface BatchOptions {
  /** The name of the statement, for spans and metrics. The metrics leave out a batch without a name. */
  name?: string;
  /** Items per flush. */
  maxItems?: number;
  /** Items waiting for a flush. Beyond it, `add` rejects, so that memory stays bounded. */
  maxWaiting?: number;
  /** Flushes in flight at once. */
  concurrency?: number;
  /**
   * Flush at most half of (waiting + just resolved), so PostgreSQL and Node work in parallel: the callers just resolved
   * will soon add again. Use it where answering costs about as much as a flush. Where the flush itself is expensive, as
   * with webhook deliveries, fewer and larger flushes are better.
   */
  splitInHalf?: boolean;
  /**
   * Milliseconds from the end of a flush to the next one, so that more items share it. A call to an idle batch is
   * flushed at once. Use it where a flush costs much more than one more item.
   */
  minIntervalMs?: number;
}

/** Splitting fewer items costs more in round trips than it saves. */
const MIN_SPLIT_ITEMS = 8;

/**
 * Gathers concurrent calls into one statement: while a flush is in flight, the next batch collects. An idle service
 * flushes at once; a busy one pays one round trip and one commit for many calls.
 */
export class Batch<Item, Outcome> {
  private waiting: Pending<Item, Outcome>[] = [];
  private inFlight = 0;
  private lastSize = 0;
  private scheduled = false;
  /** On the monotonic clock. */
  private nextAtMs = 0;
  private readonly name: string;
  private readonly maxItems: number;
  private readonly maxWaiting: number;
  private readonly concurrency: number;
  private readonly splitInHalf: boolean;
  private readonly minIntervalMs: number;
  private readonly load: BatchLoad | null;

  /**
   * @param flush returns one outcome per item, in the same order; an ApiError rejects that item alone. It throws only
   *   when no item took effect.
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
    }: BatchOptions = {},
  ) {
    this.name = name ?? 'batch';
    this.maxItems = maxItems;
    this.maxWaiting = maxWaiting;
    this.concurrency = concurrency;
    this.splitInHalf = splitInHalf;
    this.minIntervalMs = minIntervalMs;
    this.load = name === undefined ? null : batchLoad(name);
  }

  /**
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

  /** Waits for the end of the event loop's turn, so that all requests read in one turn share one flush. */
  private schedule(): void {
    if (this.scheduled || this.inFlight >= this.concurrency) return;
    this.scheduled = true;
    const flush = () => {
      this.scheduled = false;
      void this.flushNext();
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
    // PostgreSQL gets the next half before Node answers this one. A pool sends a statement at the end of the turn.
    void this.flushNext();
    setImmediate(answer);
  }

  private nextSize(): number {
    if (!this.splitInHalf) return this.waiting.length;
    return Math.max(MIN_SPLIT_ITEMS, Math.ceil((this.waiting.length + this.lastSize) / 2));
  }

  /** It serves many traces, so it has one of its own, which links those that are sampled. */
  private runInSpan(batch: Pending<Item, Outcome>[]): Promise<() => void> {
    const links = [...new Set(batch.flatMap(({ link }) => link ?? []))];
    const attributes = { 'darkroom.items': batch.length, 'db.operation.name': this.name };
    const own = links.length > 0 ? { isRoot: true, links, attributes } : { parent: null };
    return traces.span(this.name, own, () => this.run(batch));
  }

  /** @returns resolves or rejects each caller; it does not throw */
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
 * SQLSTATE classes 21 to 23 and 54: cardinality, data exception, constraint, program limit. A row caused them, not the
 * server.
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

/** What the batches of one name have in common. */
export interface BatchLoad {
  readonly batch: string;
  /** Items that wait for a flush. */
  waiting: number;
}

const loads = new Map<string, BatchLoad>();

/** @param batch a constant of the program: `tasks.create` */
export function batchLoad(batch: string): BatchLoad {
  const load = loads.get(batch) ?? { batch, waiting: 0 };
  loads.set(batch, load);
  return load;
}

/** @param sinceMs when the first item came, on the monotonic clock */
export function flushed({ batch }: BatchLoad, count: number, sinceMs: number): void {
  items.observe({ batch }, count);
  waitSeconds.observe({ batch }, (performance.now() - sinceMs) / 1000);
}

export function registerBatchMetrics(metrics: Metrics): void {
  metrics.gauges('darkroom_batch_waiting', 'Items that wait for a flush of their batch.', ['batch'], (set) => {
    for (const { batch, waiting } of loads.values()) set({ batch }, waiting);
  });
}
