// Loaded into a service: writes the name and the labels of each metric to the file in METRICS_FILE.
import { appendFileSync } from 'node:fs';
import { Registry } from 'prom-client';

const { registerMetric } = Registry.prototype;
Registry.prototype.registerMetric = function (metric) {
  appendFileSync(process.env.METRICS_FILE, `${JSON.stringify([metric.name, metric.labelNames])}\n`);
  return registerMetric.call(this, metric);
};
