import { Injectable } from '@nestjs/common';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { collectErrors } from './collect-errors.ts';
import { declaredMetrics } from './declare.ts';

/**
 * Gauges of prom-client that are removed. Their names end like a counter's, and `promtool check metrics` rejects such a
 * gauge. Each of them only sums another gauge, which stays: `nodejs_active_handles` by type, and so on.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * How often a timer measures the delay of the event loop. With the default of 10 ms an idle process wakes up 120 times
 * a second instead of 47. The delay that is shown contains this time.
 */
const LOOP_PRECISION_MS = 50;

/**
 * One series and its value when it was read. A histogram has several series for each label set: their names end in
 * `_bucket`, `_sum` and `_count`.
 */
export interface Sample {
  name: string;
  labels: Partial<Record<string, string | number>>;
  value: number;
}

/** Sets the value of one series. */
export type SetSeries<Label extends string> = (labels: Record<Label, string>, value: number) => void;

/**
 * The metrics of this process, for Prometheus. Counters and histograms are constants (measuring/declare.ts). A gauge
 * shows the state of an object at the time of the scrape, so the object registers it here.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  constructor() {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: LOOP_PRECISION_MS });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    for (const metric of declaredMetrics) this.registry.registerMetric(metric);
  }

  /** Reads the series of one metric, to show it elsewhere. */
  async samples(name: string): Promise<Sample[]> {
    const { values } = (await this.registry.getSingleMetric(name)?.get()) ?? { values: [] };
    return values.map((each) => ({
      name: 'metricName' in each && typeof each.metricName === 'string' ? each.metricName : name,
      labels: each.labels,
      value: each.value,
    }));
  }

  /** @param read the value at the time of the scrape; null: the value is unknown, and the metric is absent */
  gauge(name: string, help: string, read: () => number | null | Promise<number | null>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      registers: [this.registry],
      collect: () =>
        settle(async () => {
          const value = await read();
          if (value === null) gauge.remove();
          else gauge.set(value);
        }),
    });
  }

  /** @param read sets every series that exists at the time of the scrape */
  gauges<const Labels extends readonly string[]>(
    name: string,
    help: string,
    labelNames: Labels,
    read: (set: SetSeries<Labels[number]>) => void | Promise<void>,
  ): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [this.registry],
      collect: () =>
        settle(async () => {
          gauge.reset();
          await read((labels, value) => gauge.set(labels, value));
        }),
    });
  }
}

/** A value that cannot be read must not hide the other metrics. */
async function settle(collect: () => Promise<void>): Promise<void> {
  try {
    await collect();
  } catch {
    collectErrors.inc({ what: 'process' });
  }
}
