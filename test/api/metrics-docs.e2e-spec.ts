import { readFileSync } from 'node:fs';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Metrics } from '../../src/platform/metrics.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';

interface Metric {
  name: string;
  type: string;
  labels: string[];
}

/** Name, type, labels, unit, meaning. */
const ROW = /^\| `(\w+)` +\| (\w+) +\| (.+?) +\| (.+?) +\| (.+?) +\|$/gm;

const page = readFileSync(new URL('../../docs/api/metrics.md', import.meta.url), 'utf8');
const documented = [...page.matchAll(ROW)].map(([, name, type, labels, unit, meaning]) => ({
  name: name as string,
  type: type as string,
  labels: [...(labels as string).matchAll(/`(\w+)`/g)].map(([, label]) => label as string),
  unit: unit as string,
  meaning: meaning as string,
}));

describe('docs/api/metrics.md', () => {
  let service: InProcess;
  beforeAll(async () => (service = await startInProcess()));
  afterAll(() => service.close());

  it('lists every metric of ours once, with its type and labels, and no other', async () => {
    const served = await ownMetrics();
    expect(served.map(({ name }) => name)).toContain('http_server_request_duration_seconds');
    expect(documented.map(({ name, type, labels }) => ({ name, type, labels })).sort(byName)).toEqual(served);
  });

  it('names the unit and the meaning of each', () => {
    expect(documented.filter(({ unit }) => !/^[a-z]+$/.test(unit))).toEqual([]);
    expect(documented.filter(({ meaning }) => !/^[A-Z].{20,}\.$/.test(meaning))).toEqual([]);
  });

  /** What `/metrics` serves, without the default metrics of prom-client. */
  async function ownMetrics(): Promise<Metric[]> {
    const text = await (await fetch(new URL('/metrics', service.baseUrl))).text();
    const { registry } = service.app.get(Metrics);
    const defaults = new Registry();
    collectDefaultMetrics({ register: defaults });
    return [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)]
      .map(([, name, type]) => ({ name: name as string, type: type as string }))
      .filter(({ name }) => !defaults.getSingleMetric(name))
      .map(({ name, type }) => {
        const { labelNames } = registry.getSingleMetric(name) as unknown as { labelNames: string[] };
        return { name, type, labels: [...labelNames] };
      })
      .sort(byName);
  }
});

function byName(a: Metric, b: Metric): number {
  return a.name < b.name ? -1 : 1;
}
