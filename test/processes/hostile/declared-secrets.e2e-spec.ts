import { mkdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Api } from '../../support/clients/api.ts';
import { EventReader } from '../../support/clients/event-reader.ts';
import { mcpClient } from '../../support/clients/mcp.ts';
import { RawSocket } from '../../support/clients/raw-socket.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { freePort } from '../../support/free-port.ts';
import { tracesOf } from '../../support/hostile/traces.ts';
import { type ServiceProcess, spawnService } from '../../support/process.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { ComfyuiStub } from '../../support/stubs/comfyui.stub.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { VendorStub } from '../../support/stubs/vendor.stub.ts';
import { testEnv } from '../../support/test-env.ts';
import { eventually } from '../../support/wait.ts';

const PROMPT = 'A quiet harbour';
/** What each server says of a request that it refuses. */
const WORDS = 'the checkpoint okapi_7421 does not fit into its memory';
const GRAPH = {
  latent: { class_type: 'EmptyLatentImage', inputs: { width: '{{width}}', height: '{{height}}' } },
  sample: { class_type: 'KSampler', inputs: { text: '{{prompt}}', seed: '{{seed}}', latent: ['latent', 0] } },
  save: { class_type: 'SaveImage', inputs: { images: ['sample', 0] } },
};

const picture = (id: string, binding: string) => `id: ${id}
kind: image
description: A model of the operator.
parameters: { prompt: {} }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings:
  - { ${binding} }
`;
const film = (baseUrl: string) => `id: acme-film
kind: video
description: Films of a vendor.
parameters: { prompt: {}, duration: { enum: [1], default: 1 } }
sizes: { table: { columns: [tiny], rows: { '1:1': [64x64] } } }
bindings:
  - provider: http
    base_url: ${baseUrl}
    credential: VENDOR_STUB_KEY
    auth: 'X-Api-Key: {{key}}'
    submit: { path: /films, json: { text: '{{prompt}}', ref: '{{task_id}}' }, id: $.film.id }
    poll: { path: '/films/{{job_id}}', every_s: 1, status: $.state, done: [ready], failed: [failed] }
    outputs: $.files[*].url
    error: $.problem
`;

/** A client that keeps what it receives. */
class ListeningApi extends Api {
  readonly heard: string[] = [];

  override async call<Body>(...request: Parameters<Api['call']>) {
    const answer = await super.call<Body>(...request);
    this.heard.push(`${JSON.stringify(Object.fromEntries(answer.headers))} ${answer.text}`);
    return answer;
  }
}

/** Lets models of the operator succeed and fail, then searches what clients and operators receive, and the log. */
describe('models by declaration', () => {
  const ink = new OpenaiStub();
  const vendor = new VendorStub();
  const comfyui = new ComfyuiStub();
  /** The keys of the servers by name. No text of the service has them. */
  const keys = new Map<string, string>();
  /** What an operator may read in the log, and nobody in an answer. */
  const hidden = new Map<string, string>([['words of a server', WORDS]]);
  /** The error of each task that failed, by model. */
  const failures = new Map<string, string>();
  let database: TestDatabase;
  let service: ServiceProcess;
  let dataDir: string;
  let api: ListeningApi;

  beforeAll(async () => {
    await Promise.all([ink.start(), vendor.start(), comfyui.start()]);
    [ink.key, vendor.key, comfyui.key] = ['ink-secret-5f2c', 'vendor-secret-81aa', 'comfyui-secret-c07e'];
    const gone = `127.0.0.1:${await freePort()}`;
    database = await cloneDatabase();
    const { env, dataDir: folder } = await testEnv(database.url, {
      LOG_LEVEL: 'trace',
      PROVIDER_POLL_INTERVAL_MS: '20',
      INK_STUB_KEY: ink.key,
      VENDOR_STUB_KEY: vendor.key,
      COMFYUI_STUB_KEY: comfyui.key,
      GONE_STUB_KEY: 'gone-secret-3d19',
    });
    dataDir = folder;
    for (const name of ['INK_STUB_KEY', 'VENDOR_STUB_KEY', 'COMFYUI_STUB_KEY', 'GONE_STUB_KEY']) {
      keys.set(`value of ${name}`, env[name]!);
      hidden.set(name, name);
    }
    const addresses = { ink: ink.origin, vendor: vendor.origin, comfyui: comfyui.url, gone: `http://${gone}` };
    for (const [name, url] of Object.entries(addresses)) hidden.set(`address of ${name}`, new URL(url).host);

    env.MODELS = join(folder, 'declared-here');
    hidden.set('the folder', 'declared-here');
    mkdirSync(env.MODELS);
    const write = (name: string, text: string) => writeFileSync(join(env.MODELS!, name), text);
    const server = (url: string, key: string) => `base_url: '${url}', credential: ${key}`;
    write('ink.yaml', picture('ink', `provider: openai, model: x, ${server(ink.baseUrl, 'INK_STUB_KEY')}`));
    write('gone.yaml', picture('gone', `provider: openai, model: x, ${server(`http://${gone}`, 'GONE_STUB_KEY')}`));
    const workflow = `provider: comfyui, workflow: graph.json, ${server(comfyui.url, 'COMFYUI_STUB_KEY')}`;
    write('office.yaml', picture('office', workflow));
    write('graph.json', JSON.stringify(GRAPH));
    write('film.yaml', film(vendor.baseUrl));

    service = await spawnService(env);
    api = new ListeningApi(service.api.baseUrl, service.api.key);
    await liveThrough();
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await Promise.all([ink.stop(), vendor.stop(), comfyui.stop()]);
    await database?.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** Each server refuses its next submission, with words that hold its address and its key. */
  function refuse(): void {
    const said = (url: string, key: string | null) => `${url}: ${WORDS} (${key})`;
    const refused = (status: number, url: string, key: string | null) => ({
      reply: { status, body: { error: { message: said(url, key) }, problem: said(url, key) } },
    });
    ink.plan(/^POST/, refused(400, ink.baseUrl, ink.key));
    vendor.plan(/^POST/, refused(422, vendor.baseUrl, vendor.key));
    const message = said(comfyui.url, comfyui.key);
    comfyui.next('POST /prompt', { status: 422, body: { error: { type: 'not_understood', message } } });
  }

  async function liveThrough(): Promise<void> {
    const receiver = await Receiver.start();
    await api.call('POST', '/v1/webhook_endpoints', { url: receiver.url });
    const socket = new RawSocket(api.baseUrl, `Bearer ${api.key}`);
    await socket.received('connection_ack', 'connection_ack');
    const updates = 'subscription { tasksUpdated { taskId status progress error { code message } } }';
    socket.send({ id: 'tasks', type: 'subscribe', payload: { query: updates } });
    const operations = 'subscription { operationsUpdated { providers { provider host credential models { model } } } }';
    await socket.subscribe('operations', operations);
    const reader = await EventReader.open(api.baseUrl, '/v1/events', api.key!);
    const mcp = await mcpClient('legacy', new URL('/mcp', api.baseUrl), { key: api.key! });
    const call = async (name: string, given: object) =>
      api.heard.push(JSON.stringify(await mcp.callTool({ name, arguments: { ...given } })));

    const models = ['ink', 'office', 'acme-film'];
    const tasks: string[] = [];
    for (const fails of [false, true]) {
      if (fails) refuse();
      for (const model of models) {
        const { body } = await api.create({ model, prompt: PROMPT });
        const { status, error } = await api.untilFinal(body.task_id);
        tasks.push(body.task_id);
        if (status === 'failed') failures.set(model, error!.code);
      }
    }
    vendor.plan(/^GET/, { reply: { status: 200, body: { state: 'failed', problem: `${WORDS} ${vendor.key}` } } });
    const failing = await api.create({ model: 'acme-film', prompt: PROMPT });
    failures.set('acme-film, later', (await api.untilFinal(failing.body.task_id)).error!.code);
    const waiting = await api.create({ model: 'gone', prompt: PROMPT });
    await eventually('a call that reaches no server', async () =>
      (await api.get(`/v1/tasks/${waiting.body.task_id}/timeline`)).text.includes('provider_unavailable'),
    );
    tasks.push(failing.body.task_id, waiting.body.task_id);

    for (const fails of [false, true]) {
      if (fails) refuse();
      await call('generate_image', { model: 'ink', prompt: PROMPT, wait_s: 60 });
      await call('generate_video', { model: 'acme-film', prompt: PROMPT, wait_s: 60 });
      await api.call('POST', '/v1/images/generations', { model: 'office', prompt: PROMPT });
    }
    refuse();
    await api.call('POST', '/v1/images/generations', { model: 'ink', prompt: PROMPT });
    await api.call('POST', '/v1/images/generations', { model: 'ink', prompt: PROMPT, n: 9 });
    await call('list_models', {});
    api.heard.push(JSON.stringify(await mcp.listTools()));
    await mcp.close();

    await api.call('POST', '/v1/operations/pauses', { model: 'ink', reason: 'it is mended' });
    await api.call('POST', '/v1/operations/providers/1/close_circuit', {});
    await readAll(tasks);
    await receiver.until(tasks.length);
    socket.close();
    reader.close();
    await receiver.stop();
    api.heard.push(...socket.texts, JSON.stringify(reader.events), ...receiver.received.map(({ body }) => body));
  }

  /** Every route that reads, with the ids of the tasks and models, and the twins in GraphQL. */
  async function readAll(tasks: string[]): Promise<void> {
    const { body } = await api.get<{ paths: Record<string, object> }>('/openapi.json');
    const reads = Object.entries(body.paths).filter(
      ([path, acts]) => 'get' in acts && !/\/(events|metrics)$/.test(path),
    );
    for (const [path] of reads) {
      if (path.includes('{task_id}')) for (const id of tasks) await api.get(path.replace('{task_id}', id));
      else if (!path.includes('{')) await api.get(path);
    }
    for (const id of ['ink', 'office', 'acme-film', 'gone']) await api.get(`/v1/models/${id}`);
    await api.get('/schemas/model.json');
    const theirs = 'taskId provider providerHost providerModel credential upstreamId errorCode';
    const query = `query ($id: String!) {
      models { id description available capabilities { size } parameters }
      task(taskId: $id) { taskId error { code message } timeline { type provider detail } }
      tasks { edges { node { taskId error { code message } } } }
      operations {
        providers { provider host credential credentialPresent models { model upstreamModel lastErrorCode } }
        task(taskId: $id) { ${theirs} }
        tasks { edges { node { ${theirs} } } }
        auditEvents { edges { node { action before after } } }
        pauses(ended: true) { edges { node { provider reason models } } }
        processes { circuits { provider } }
      }
    }`;
    for (const id of tasks) await api.call('POST', '/graphql', { query, variables: { id } });
  }

  it('were asked of every kind of server, which refused them in words', () => {
    expect(Object.fromEntries(failures)).toEqual({
      ink: 'provider_rejected',
      office: 'provider_rejected',
      'acme-film': 'provider_rejected',
      'acme-film, later': 'internal_error',
    });
    expect(api.heard.length).toBeGreaterThan(100);
    const all = api.heard.join();
    for (const word of [
      '"data":{"models"',
      '"type":"next"',
      '"provider_place"',
      '"operator_task"',
      '"structuredContent"',
    ])
      expect(all).toContain(word);
    expect(service.output()).toContain(WORDS);
    expect([keys.size, hidden.size]).toEqual([4, 10]);
  });

  it('show their keys nowhere', async () => {
    const metrics = await service.api.get('/metrics');
    expect(tracesOf(keys, [...api.heard, metrics.text, service.output()])).toEqual([]);
  });

  it('show their addresses, the names of their credentials and the words of their servers in no answer', () =>
    expect(tracesOf(hidden, api.heard)).toEqual([]));
});
