// Own settings: traces are sent. Own processes: they end while tasks run.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testEnv } from '../support/test-env.ts';
import { Api } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { queryOnce } from '../support/faults/watch.ts';
import type { ExportedSpan } from '../support/otlp.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { Collector } from '../support/servers/collector.ts';
import { Receiver } from '../support/servers/receiver.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { GeminiStub } from '../support/stubs/gemini.stub.ts';
import { FalStub } from '../support/stubs/fal.stub.ts';
import { eventually } from '../support/wait.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENT_SPAN = 'b7ad6b7169203331';
const PROMPT = 'An unmistakable quagga at the harbour';
const HOOK_TOKEN = 'hooktoken-77ab';
const COLLECTOR_KEY = 'collector-secret-9931';
const aFilm = { model: 'seedance-2', prompt: PROMPT, duration: 4 };

const named = (spans: ExportedSpan[], name: string): ExportedSpan[] => spans.filter((span) => span.name === name);
const one = (spans: ExportedSpan[], name: string): ExportedSpan => {
  const found = named(spans, name);
  if (found.length !== 1) throw new Error(`${found.length} spans ${name} in ${spans.map((span) => span.name).join()}`);
  return found[0]!;
};
const reference = ({ traceId, spanId }: ExportedSpan): string => `${traceId} ${spanId}`;

describe('the trace of a task', () => {
  const [fal, openai, gemini] = [new FalStub(), new OpenaiStub(), new GeminiStub()];
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-traces-'));
  const running: ServiceProcess[] = [];
  let collector: Collector;
  let receiver: Receiver;
  let database: TestDatabase;
  let shared: Record<string, string>;
  let endpointId: string;
  /** Each test goes on with the process that the one before has started. */
  let service: ServiceProcess;
  /** Requests to fal before OTEL_PROPAGATE_TO named it. */
  let untraced = 0;

  beforeAll(async () => {
    [collector, receiver, database] = await Promise.all([
      Collector.start(),
      Receiver.start(),
      cloneDatabase(),
      ...[fal, openai, gemini].map((stub) => stub.start()),
    ]);
    fal.real = true;
    const providers = join(folder, 'providers.yaml');
    writeFileSync(
      providers,
      `models:\n  seedance-2: [{ provider: fal, model: bytedance/seedance-2.0, base_url: "${fal.origin}" }]\n`,
    );
    ({ env: shared } = await testEnv(database.url, {
      LOG_LEVEL: 'info',
      PROVIDERS: providers,
      FAL_KEY: fal.key,
      PROVIDER_POLL_INTERVAL_MS: '50',
      TASK_SWEEP_S: '0.5',
      TASK_HEARTBEAT_S: '0.5', // how long a worker that has started takes nothing over
      SHUTDOWN_GRACE_S: '0.2',
      WEBHOOK_RETRY_SCHEDULE: '0.1',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: `api-key=${COLLECTOR_KEY}`,
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_PROPAGATE_TO: 'gemini',
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      GEMINI_API_KEY: gemini.key,
      GEMINI_BASE_URL: gemini.baseUrl,
    }));
  });
  afterAll(async () => {
    await Promise.all(running.map((service) => service.kill('SIGKILL')));
    await Promise.all([collector, receiver, fal, openai, gemini].map((each) => each.stop()));
    await database.drop();
  });

  async function start(settings: Record<string, string> = {}): Promise<ServiceProcess> {
    const { env } = await testEnv(database.url, {
      ...shared,
      ...settings,
      PORT: String(await freePort()),
      PUBLIC_URL: '',
    });
    env.PUBLIC_URL = `http://127.0.0.1:${env.PORT}`;
    const service = await spawnService(env);
    running.push(service);
    endpointId ??= (
      await new WebhookClient(service.api).endpoint(`${receiver.url}?token=${HOOK_TOKEN}`, {
        events: ['task.completed'],
      })
    ).id;
    return service;
  }

  const untilTrace = (traceId: string, isThere: (spans: ExportedSpan[]) => boolean, what: string) =>
    eventually(what, async () => isThere(collector.ofTrace(traceId)) && collector.ofTrace(traceId));

  /** Makes something with each provider. @returns whether a request to OpenAI, Gemini and fal continued the trace */
  const continued = async () => {
    fal.steps = { queued: 0, running: 1 };
    const traceId = randomBytes(16).toString('hex');
    for (const body of [{ model: 'gpt-image-2', prompt: PROMPT }, { model: 'nano-banana-2', prompt: PROMPT }, aFilm]) {
      const { body: made } = await service.api.create(body, { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` });
      expect([body.model, (await service.api.untilFinal(made.task_id)).status]).toEqual([body.model, 'succeeded']);
    }
    return [openai, gemini, fal].map((stub) =>
      stub.requests.some(({ headers }) => String(headers.traceparent ?? '').startsWith(`00-${traceId}-`)),
    );
  };

  it('goes from the request through a takeover after a kill to both webhook attempts', async () => {
    fal.steps = { queued: 100_000, running: 0 };
    receiver.answer = (_received, response) =>
      void response.writeHead(receiver.received.length === 1 ? 500 : 200).end('ok');
    const first = await start();
    const { body: task } = await first.api.create(aFilm, { traceparent: `00-${TRACE}-${CLIENT_SPAN}-01` });
    const sent = (spans: ExportedSpan[]) =>
      named(spans, 'POST /v1/generations').length === 1 && named(spans, 'submit').length === 1;
    await untilTrace(TRACE, sent, 'the request and the submit of the first claim'); // a killed process sends no more
    await first.kill('SIGKILL');
    await queryOnce(database.url, `update tasks_live set lease_until = now() where status = 'running'`);
    fal.steps = { queued: 0, running: 3 };
    const second = await start();
    service = second;
    expect((await second.api.untilFinal(task.task_id)).status).toBe('succeeded');
    await eventually('both attempts', async () => receiver.received.length >= 2);
    const spans = await untilTrace(
      TRACE,
      (all) => named(all, 'webhook attempt').length > 0 && all.some(({ name }) => name.startsWith('generate')),
      'the claim and the first attempt',
    );

    const request = one(spans, 'POST /v1/generations');
    expect(request).toMatchObject({
      kind: 'server',
      parentId: CLIENT_SPAN,
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/generations',
        'http.response.status_code': 201,
        'darkroom.task.id': task.task_id,
      },
    });
    const claim = one(spans, 'generate seedance-2');
    expect(claim).toMatchObject({
      kind: 'consumer',
      parentId: request.spanId,
      attributes: {
        'darkroom.task.id': task.task_id,
        'darkroom.attempt': 2,
        'gen_ai.request.model': 'seedance-2',
        'darkroom.provider': 'fal',
      },
    });
    const submit = one(spans, 'submit'); // by the process that was killed, whose claim never ended
    expect(submit.kind).toBe('client');
    expect(claim.links).toEqual([`${TRACE} ${submit.parentId}`]);
    expect(submit.resource['service.instance.id']).not.toBe(claim.resource['service.instance.id']);

    const stages = ['upstream', 'download', 'store', 'end'].map((name) => one(spans, name));
    expect(stages.map(({ parentId }) => parentId)).toEqual(stages.map(() => claim.spanId));
    expect(stages.map(({ startMs }) => startMs)).toEqual(
      stages.map(({ startMs }) => startMs).toSorted((a, b) => a - b),
    );
    const [upstream, download, store, end] = stages;
    expect(upstream).toMatchObject({ kind: 'client', attributes: { 'darkroom.provider': 'fal' } });
    expect(upstream!.attributes['darkroom.polls']).toBeGreaterThan(1);
    expect(download!.kind).toBe('client');
    expect(store!.attributes['darkroom.bytes']).toBeGreaterThan(1_000);
    expect(end!.attributes).toMatchObject({ 'darkroom.task.status': 'succeeded' });

    const attempt = one(spans, 'webhook attempt');
    expect(attempt).toMatchObject({
      kind: 'client',
      parentId: request.spanId,
      isError: true,
      attributes: {
        'darkroom.event.id': receiver.received[0]!.event.id,
        'darkroom.attempt': 1,
        'darkroom.outcome': 'failed',
        'http.response.status_code': 500,
        'error.type': 'http_status',
      },
    });
    const retry = await eventually('the second attempt', async () =>
      collector.spans.find(
        ({ name, attributes }) => name === 'webhook attempt' && attributes['darkroom.attempt'] === 2,
      ),
    );
    expect(retry).toMatchObject({
      parentId: '',
      links: [reference(request)],
      attributes: { 'darkroom.outcome': 'delivered', 'http.response.status_code': 200 },
    });
    expect(retry.traceId).not.toBe(TRACE);

    const flush = one(
      collector.spans.filter(({ links }) => links.includes(reference(request))),
      'tasks.create',
    );
    expect(flush).toMatchObject({ kind: 'internal', parentId: '', attributes: { 'darkroom.items': 1 } });
    expect(flush.traceId).not.toBe(TRACE);
    const ending = one(
      collector.spans.filter(({ links }) => links.includes(reference(end!))),
      'tasks.end',
    );
    expect(ending.traceId).not.toBe(TRACE);
  });

  it('continues at the one provider that OTEL_PROPAGATE_TO names, and only there', async () => {
    expect(await continued()).toEqual([false, true, false]);
  });

  it('is that of a GraphQL mutation, over HTTP and over a socket; a claim that was handed over has ended', async () => {
    fal.steps = { queued: 100_000, running: 0 };
    const first = service;
    const graphql = new GraphqlClient(first.api.baseUrl, first.api.key);
    const create = `mutation ($prompt: String!) {
      createGeneration(input: { model: "seedance-2", prompt: $prompt, duration: 4 }) { taskId } }`;
    const { data } = await graphql.ask<{ createGeneration: { taskId: string } }>(create, { prompt: PROMPT });
    const following = graphql.follow<{ createGeneration: { taskId: string } }>(create, { prompt: PROMPT });
    const requests = await eventually('both requests', async () => {
      const found = named(collector.spans, 'graphql mutation').filter((span) => span.attributes['darkroom.task.id']);
      return found.length === 2 && found;
    });
    await eventually('both submits', async () =>
      requests.every(({ traceId }) => named(collector.ofTrace(traceId), 'submit').length === 1),
    );
    await graphql.close();
    void following;
    await first.kill('SIGTERM');
    untraced = fal.requests.length;
    fal.steps = { queued: 0, running: 3 };
    service = await start({ OTEL_PROPAGATE_TO: 'openai,fal' });
    for (const request of requests) {
      const taskId = request.attributes['darkroom.task.id'] as string;
      expect(request).toMatchObject({
        kind: 'server',
        parentId: '',
        attributes: { 'graphql.operation.type': 'mutation' },
      });
      expect((await service.api.untilFinal(taskId)).status).toBe('succeeded');
      const isWhole = (spans: ExportedSpan[]) =>
        named(spans, 'generate seedance-2').length === 2 && named(spans, 'webhook attempt').length === 1;
      const spans = await untilTrace(request.traceId, isWhole, `the trace of ${taskId}`);
      const claims = named(spans, 'generate seedance-2').toSorted((a, b) => a.startMs - b.startMs);
      expect(claims.map(({ attributes }) => attributes['darkroom.attempt'])).toEqual([1, 2]);
      expect(claims.map(({ parentId }) => parentId)).toEqual([request.spanId, request.spanId]);
      expect(claims[0]!.links).toEqual([]);
      expect(claims[1]!.links).toEqual([reference(claims[0]!)]);
      expect(spans.every((span) => span.spanId !== claims[0]!.spanId || !span.isError)).toBe(true);
    }
    expect(requests.map((span) => span.attributes['darkroom.task.id'])).toContain(data.createGeneration.taskId);
  });

  it('has no prompt, key or address, and no traceparent leaves', async () => {
    const texts = [collector.text, ...collector.spans.map((span) => JSON.stringify(span))].join('\n');
    const secrets = [PROMPT, 'quagga', HOOK_TOKEN, COLLECTOR_KEY, fal.key, shared.BOOTSTRAP_API_KEY!, receiver.url];
    expect(collector.spans.length).toBeGreaterThan(20);
    for (const secret of [...secrets, fal.origin]) expect(texts.includes(secret)).toBe(false);
    expect(collector.spans.filter(({ statusMessage }) => statusMessage !== '')).toEqual([]);
    expect(collector.headers[0]).toMatchObject({ 'api-key': COLLECTOR_KEY });
    expect(receiver.received.filter(({ headers }) => 'traceparent' in headers)).toEqual([]);
    expect(fal.requests.slice(0, untraced).filter(({ headers }) => 'traceparent' in headers)).toEqual([]);
  });

  it('continues at each of several providers that OTEL_PROPAGATE_TO names', async () => {
    expect(await continued()).toEqual([true, false, true]);
  });

  it('is named on the lines of the log, and counted in the metrics', async () => {
    const traceId = randomBytes(16).toString('hex'); // another one at a repetition
    await service.api.get('/v1/models', { traceparent: `00-${traceId}-${CLIENT_SPAN}-00` });
    const line = await eventually('the line of the request', async () =>
      service
        .output()
        .split('\n')
        .find((text) => text.includes('request.finished') && text.includes('/v1/models')),
    );
    const [span] = await untilTrace(traceId, (spans) => spans.length === 1, 'the span');
    expect(JSON.parse(line)).toMatchObject({ trace_id: traceId, span_id: span!.spanId });
    await eventually('the count of sent spans', async () => {
      const metrics = await (await fetch(new URL('/metrics', service.api.baseUrl))).text();
      return Number(/darkroom_trace_spans_total\{result="sent"\} (\d+)/.exec(metrics)?.[1]) > 0;
    });
    expect(collector.spans.filter(({ name }) => /metrics|healthz|readyz/.test(name))).toEqual([]);
    const unknown = await new Api(service.api.baseUrl, service.api.key).get('/v1/tasks/none', {
      traceparent: `00-${'cd'.repeat(16)}-${CLIENT_SPAN}-00`,
    });
    expect(unknown.status).toBe(404);
    const [failed] = await untilTrace('cd'.repeat(16), (spans) => spans.length === 1, 'the span of the failure');
    expect(failed!.attributes).toMatchObject({ 'darkroom.error.code': 'task_not_found' });
  });
});
