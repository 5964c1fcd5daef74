import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testEnv } from '../../../support/test-env.ts';
import { GraphqlClient } from '../../../support/clients/graphql-client.ts';
import { WebhookClient } from '../../../support/clients/webhook-client.ts';
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts';
import { freePort } from '../../../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../../../support/process.ts';
import { Receiver } from '../../../support/servers/receiver.ts';
import { eventually } from '../../../support/wait.ts';
import { describeWith, findTool } from '../tools.ts';

const PROMPT = 'An unmistakable thylacine in the rain';

/** A span as the collector's debug exporter prints it. */
interface PrintedSpan {
  name: string;
  kind: string;
  traceId: string;
  spanId: string;
  parentId: string;
  /** `<trace id> <span id>` */
  links: string[];
  text: string;
}

function spansIn(output: string): PrintedSpan[] {
  return output
    .split(/^Span #\d+$/m)
    .slice(1)
    .map((text) => {
      const field = (name: string): string => new RegExp(`^ +${name} *: (.*)$`, 'm').exec(text)?.[1]?.trim() ?? '';
      const links = text.matchAll(/^SpanLink #\d+\n +-> Trace ID: (\w+)\n +-> ID: (\w+)$/gm);
      return {
        name: field('Name'),
        kind: field('Kind'),
        traceId: field('Trace ID'),
        spanId: field('ID'),
        parentId: field('Parent ID'),
        links: [...links].map(([, traceId, spanId]) => `${traceId} ${spanId}`),
        text,
      };
    });
}

const TOOL = 'otelcol-darkroom';
const HOW = 'build it with test/outside/deploy/collector/build.sh; test/api/traces decodes OTLP by itself';

describeWith({ [TOOL]: HOW }, 'an OpenTelemetry collector', () => {
  const running: ServiceProcess[] = [];
  let collector: ChildProcess;
  let output = '';
  let receiver: Receiver;
  let database: TestDatabase;
  let shared: Record<string, string>;

  beforeAll(async () => {
    [receiver, database] = await Promise.all([Receiver.start(), cloneDatabase()]);
    const endpoint = `127.0.0.1:${await freePort()}`;
    const file = join(mkdtempSync(join(tmpdir(), 'darkroom-collector-')), 'collector.yaml');
    writeFileSync(
      file,
      `receivers: { otlp: { protocols: { http: { endpoint: "${endpoint}" } } } }
exporters: { debug: { verbosity: detailed, sampling_initial: 100000 } }
service:
  telemetry: { metrics: { level: none } }
  pipelines: { traces: { receivers: [otlp], exporters: [debug] } }
`,
    );
    collector = spawn(findTool(TOOL)!, ['--config', file], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [collector.stdout, collector.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await eventually('the collector', async () => output.includes('Everything is ready'));
    ({ env: shared } = await testEnv(database.url, {
      TASK_LEASE_S: '1',
      TASK_HEARTBEAT_S: '0.4',
      TASK_SWEEP_S: '0.5',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://${endpoint}`,
      OTEL_TRACES_SAMPLER: 'always_on',
    }));
  });
  afterAll(async () => {
    await Promise.all(running.map((service) => service.kill('SIGKILL')));
    collector.kill();
    await Promise.all([once(collector, 'exit'), receiver.stop(), database.drop()]);
  });

  async function start(): Promise<ServiceProcess> {
    const port = String(await freePort());
    const { env } = await testEnv(database.url, { ...shared, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` });
    const service = await spawnService(env);
    running.push(service);
    return service;
  }

  it('gets one trace for each task, through a takeover and a webhook, made over HTTP and GraphQL', async () => {
    const first = await start();
    await new WebhookClient(first.api).endpoint(receiver.url, { events: ['task.completed'] });
    const input = { model: 'gpt-image-2', prompt: `${PROMPT} #delay:4` };
    const { body } = await first.api.create(input);
    const graphql = new GraphqlClient(first.api.baseUrl, first.api.key);
    const create = `mutation ($prompt: String!) { createGeneration(input: { model: "gpt-image-2", prompt: $prompt }) { taskId } }`;
    const { data } = await graphql.ask<{ createGeneration: { taskId: string } }>(create, { prompt: input.prompt });
    const taskIds = [body.task_id, data.createGeneration.taskId];
    for (const id of taskIds) await first.api.until(id, 'running');
    const requestOf = (id: string) => spansIn(output).find(({ kind, text }) => kind === 'Server' && text.includes(id));
    await eventually('the requests', async () => taskIds.every((id) => requestOf(id) !== undefined));
    await first.kill('SIGKILL');

    const second = await start();
    for (const id of taskIds) expect((await second.api.untilFinal(id)).status).toBe('succeeded');
    for (const id of taskIds) {
      const request = requestOf(id)!;
      const trace = await eventually(`the trace of ${id}`, async () => {
        const spans = spansIn(output).filter(({ traceId }) => traceId === request.traceId);
        return (
          spans.some(({ name }) => name === 'webhook attempt') && spans.some(({ kind }) => kind === 'Consumer') && spans
        );
      });
      const names = trace.map(({ name, kind }) => `${name} ${kind}`);
      const requestName = id === body.task_id ? 'POST /v1/generations Server' : 'graphql mutation Server';
      const claim = trace.find(({ name }) => name === 'generate gpt-image-2')!;
      expect(names.sort()).toEqual(
        [
          requestName,
          'generate gpt-image-2 Consumer',
          'upstream Client',
          'store Internal',
          'end Internal',
          'webhook attempt Client',
        ].sort(),
      );
      expect(claim.text).toContain('-> darkroom.attempt: Int(2)');
      expect(claim.links).toEqual([expect.stringMatching(new RegExp(`^${request.traceId} [0-9a-f]{16}$`))]);
      const parentOf = (name: string) => trace.find((span) => span.name === name)!.parentId;
      expect([claim.parentId, parentOf('webhook attempt')]).toEqual([request.spanId, request.spanId]);
      expect(['upstream', 'store', 'end'].map(parentOf)).toEqual([claim.spanId, claim.spanId, claim.spanId]);
      const flushes = spansIn(output).filter(({ links }) => links.includes(`${request.traceId} ${request.spanId}`));
      expect(flushes.map(({ name }) => name)).toContain('tasks.create');
    }
    for (const secret of ['thylacine', shared.BOOTSTRAP_API_KEY!, receiver.url])
      expect(output.includes(secret)).toBe(false);
  });
});
