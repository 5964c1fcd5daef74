// Loaded before the program (--import): metrics count and observe nothing. The code that computes labels and reads the
// clock stays.
import { createRequire } from 'node:module';

const nothing = (): void => undefined;
const { Counter, Gauge, Histogram } = createRequire(import.meta.url)('prom-client') as typeof import('prom-client');
Counter.prototype.inc = nothing;
Gauge.prototype.set = nothing;
Histogram.prototype.observe = nothing;
