import { Counter, Histogram, type Metric } from 'prom-client';

/** Maximum number of names that are counted between two calls of `take`. Further names are not counted. */
const MAX_NAMES = 1_000;

/** Counters that operators see, by name. The names, such as API keys, may be no label of a metric. */
export class OperatorCounts {
  private counts = new Map<string, number>();

  add(name: string): void {
    const count = this.counts.get(name) ?? 0;
    if (count > 0 || this.counts.size < MAX_NAMES) this.counts.set(name, count + 1);
  }

  /** @returns what was counted since the last call */
  take(): Map<string, number> {
    const { counts } = this;
    this.counts = new Map();
    return counts;
  }
}

const declared: Metric[] = [];

/**
 * The counters and histograms of this process. They are constants of their files and not injected, because most of what
 * they count happens in functions that Nest does not build. `Metrics` serves them.
 */
export const declaredMetrics: readonly Metric[] = declared;

/** Makes `Metrics` serve a metric. Use this for a metric of a module that may not import this file. */
export function declare<Kind extends Metric>(metric: Kind): Kind {
  declared.push(metric);
  return metric;
}

export function counter<const Labels extends readonly string[] = []>(
  name: string,
  help: string,
  labelNames?: Labels,
): Counter<Labels[number]> {
  return declare(new Counter({ name, help, labelNames: labelNames ?? [], registers: [] }));
}

/**
 * A counter for code that runs in every request: an `inc` of prom-client takes 0.4 us, and `add` a tenth of that. The
 * scrape moves the sums to prom-client.
 */
export class Tally {
  private readonly counts = new Map<string, number>();

  /** @param labelsOf the labels of what is counted; called at the scrape */
  constructor(name: string, help: string, labelNames: string[], labelsOf: (counted: string) => Record<string, string>) {
    const { counts } = this;
    const sums: Counter = counter(name, help, labelNames);
    Object.assign(sums, {
      collect: () => {
        for (const [counted, count] of counts) sums.inc(labelsOf(counted), count);
        counts.clear();
      },
    });
  }

  add(counted: string, count = 1): void {
    this.counts.set(counted, (this.counts.get(counted) ?? 0) + count);
  }
}

/** @param buckets a list of buckets.ts */
export function histogram<const Labels extends readonly string[] = []>(
  name: string,
  help: string,
  buckets: number[],
  labelNames?: Labels,
): Histogram<Labels[number]> {
  return declare(new Histogram({ name, help, buckets, labelNames: labelNames ?? [], registers: [] }));
}
