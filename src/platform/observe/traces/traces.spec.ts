import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { Collector } from '../../../../test/support/servers/collector.ts';
import { skipPauses } from '../../../../test/support/clock.ts';
import { freePort } from '../../../../test/support/free-port.ts';
import { eventually } from '../../../../test/support/wait.ts';
import { activeSpan } from './span.ts';
import type { TraceSettings } from './trace-settings.ts';
import { Traces } from './traces.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const sampled = `00-${TRACE}-b7ad6b7169203331-01`;
const unsampled = `00-${TRACE}-b7ad6b7169203331-00`;

const SETTINGS: TraceSettings = {
  otelEndpoint: null,
  otelHeaders: { 'x-team': '7' },
  otelSampler: 'always_on',
  otelSamplerArg: 0.05,
  otelServiceName: 'darkroom',
  otelResourceAttributes: { 'deployment.environment.name': 'test' },
  otelPropagateTo: [],
  role: 'all',
};

describe('traces', () => {
  let collector: Collector;
  const started: Traces[] = [];
  beforeEach(async () => (collector = await Collector.start()));
  afterEach(async () => {
    await Promise.all(started.splice(0).map((traces) => traces.stop()));
    await collector.stop();
  });

  async function start(settings: Partial<TraceSettings> = {}): Promise<Traces> {
    const traces = new Traces();
    started.push(traces);
    await traces.start({ ...SETTINGS, otelEndpoint: collector.url, ...settings });
    return traces;
  }

  it('are off without an endpoint: work runs without a span', async () => {
    const traces = await start({ otelEndpoint: null });
    expect(traces.isOn).toBe(false);
    expect(traces.accept('GET /', sampled, {})).toBeNull();
    await traces.span('work', { isRoot: true }, async (span) => {
      expect(span).toBeNull();
      expect(traces.link()).toBeNull();
    });
  });

  it('hold a span and the spans within it, with the attributes of the process', async () => {
    const traces = await start();
    await traces.span('outer', { isRoot: true, attributes: { a: 1, b: null, c: undefined } }, async () => {
      const link = traces.link()!;
      await traces.span('inner', { kind: 'client', links: [link, 'nonsense'] }, async (span) => {
        span?.event('poll failed', { 'http.response.status_code': 503 });
        span?.set({ ok: true, part: 0.5 });
      });
    });
    await traces.stop();
    const [inner, outer] = collector.spans;
    expect(outer).toMatchObject({
      name: 'outer',
      kind: 'internal',
      parentId: '',
      attributes: { a: 1 },
      isError: false,
    });
    expect(Object.keys(outer!.attributes)).toEqual(['a']);
    expect(outer!.resource).toMatchObject({
      'service.name': 'darkroom',
      'deployment.environment.name': 'test',
      'darkroom.role': 'all',
    });
    expect(inner).toMatchObject({
      name: 'inner',
      kind: 'client',
      traceId: outer!.traceId,
      parentId: outer!.spanId,
      links: [`${outer!.traceId} ${outer!.spanId}`],
      attributes: { ok: true, part: 0.5 },
      events: [{ name: 'poll failed', attributes: { 'http.response.status_code': 503 } }],
    });
    // Each span has its own clock, set in whole milliseconds.
    expect(inner!.endMs).toBeLessThanOrEqual(outer!.endMs + 1);
    expect(collector.headers[0]).toMatchObject({ 'x-team': '7', 'content-type': 'application/x-protobuf' });
  });

  it('mark failures by their code or class, never by their text', async () => {
    const traces = await start();
    const fail = (error: unknown) =>
      traces.span('work', { isRoot: true }, () => Promise.reject(error)).catch(() => undefined);
    await fail(Object.assign(new Error('a cat on a roof'), { code: '23505' }));
    await fail(new TypeError('a cat on a roof'));
    await fail('lease_lost');
    await traces.stop();
    expect(collector.spans.map(({ attributes, isError }) => [attributes['error.type'], isError])).toEqual([
      ['23505', true],
      ['TypeError', true],
      ['lease_lost', true],
    ]);
    expect(collector.text).not.toContain('cat');
  });

  it('sample what the operator says, and trust the flag of a client only if the settings say so', async () => {
    const isSampled = async (otelSampler: TraceSettings['otelSampler'], otelSamplerArg: number, client?: string) => {
      const span = (await start({ otelSampler, otelSamplerArg })).accept('GET /', client, {});
      span?.end();
      return span !== null;
    };
    expect(await isSampled('traceidratio', 0, sampled)).toBe(false);
    expect(await isSampled('traceidratio', 1, unsampled)).toBe(true);
    expect(await isSampled('always_off', 1, sampled)).toBe(false);
    expect(await isSampled('parentbased_always_off', 1, sampled)).toBe(true);
    expect(await isSampled('parentbased_always_on', 1, unsampled)).toBe(false);
    expect(await isSampled('parentbased_always_on', 1)).toBe(true);
    expect(await isSampled('parentbased_traceidratio', 0, 'nonsense')).toBe(false);
  });

  it('sample about a twentieth of the requests by default', async () => {
    const traces = await start({ otelSampler: 'traceidratio' });
    const spans = Array.from({ length: 4_000 }, () => traces.accept('GET /', sampled, {})).filter(
      (span) => span !== null,
    );
    expect(spans.length).toBeGreaterThan(100);
    expect(spans.length).toBeLessThan(320);
  });

  it('have no span below one that is not sampled', async () => {
    const traces = await start();
    await traces.span('outer', { isRoot: true }, () =>
      traces.span('generate', { parent: null }, async (span) => {
        expect(span).toBeNull();
        expect(activeSpan()).toBeUndefined();
        await traces.span('store', {}, async (inner) => expect(inner).toBeNull());
      }),
    );
    await traces.stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(['outer']);
  });

  it('keep at most 2,048 spans that wait, send one export at a time, and count the rest as dropped', async () => {
    const traces = await start();
    collector.delayMs = 200;
    for (let nth = 0; nth < 3_000; nth += 1) traces.open('work', { isRoot: true })!.end();
    expect(traces.counts.dropped).toBe(3_000 - 512 - 2_048); // the first 512 are being sent
    await eventually('all exports', async () => traces.counts.sent === 512 + 2_048);
    expect(collector.spans).toHaveLength(512 + 2_048);
    expect(collector.mostOpen).toBe(1);
  });

  it('log one line when the collector is away, and hold up nothing', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    const traces = await start({ otelEndpoint: `http://127.0.0.1:${await freePort()}` });
    skipPauses((ms) => ms < 10_000); // those between exports, and between the tries of one
    for (let round = 0; round < 2; round += 1) {
      traces.open('work', { isRoot: true })!.end();
      const failed = round + 1;
      await eventually('the failed export', async () => traces.counts.failed === failed);
    }
    expect(warn.mock.calls).toEqual([[{ event: 'traces.export_failed', spans: 1, code: expect.any(String) }]]);
    jest.restoreAllMocks();
  });
});
