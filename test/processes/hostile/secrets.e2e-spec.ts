import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { newApiKey } from '../../../src/auth/credentials/api-key-format.ts';
import { Api } from '../../support/clients/api.ts';
import { tracesOf } from '../../support/hostile/traces.ts';
import { SECRET_KEY, testEnv } from '../../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { EventReader } from '../../support/clients/event-reader.ts';
import { freePort } from '../../support/free-port.ts';
import { anotherKey } from '../../support/clients/graphql-keys.ts';
import { type ServiceProcess, spawnService } from '../../support/process.ts';
import { RawSocket } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/wait.ts';
import { Collector } from '../../support/servers/collector.ts';
import { Receiver } from '../../support/servers/receiver.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';

const PROMPT = 'An unmistakable okapi of 7421 stripes';
const HOOK_TOKEN = 'hooktoken-93c1';
const PICTURE_TOKEN = 'picturetoken-55d0';
const UPSTREAM_KEYS = {
  GEMINI_API_KEY: 'AIzaSy-upstream-one',
  ARK_API_KEY: 'ark-upstream-two',
  FAL_KEY: 'fal-upstream:three',
  REPLICATE_API_TOKEN: 'r8_upstream-four',
};

/** Removes what the owner of a task may read: its prompt and the links to its outputs. */
const withoutOwn = (text: string): string =>
  text.replaceAll(`"prompt":${JSON.stringify(PROMPT)}`, '').replaceAll(/"url":"[^"]*"/g, '');

/** Runs a service at LOG_LEVEL=trace through many successes and failures, then searches its output for secrets. */
describe('secrets', () => {
  const openai = new OpenaiStub();
  let collector: Collector;
  const database = { current: null as TestDatabase | null };
  /** The secrets of the run, by name. */
  const secrets = new Map<string, string>();
  /** Everything that a client received: failures, GraphQL answers, socket messages, stream events, and the metrics. */
  const exposed: string[] = [];
  /** Number of messages over sockets, and of events over streams. */
  let sockets = 0;
  let streamed = 0;
  let service: ServiceProcess;
  let dataDir: string;

  beforeAll(async () => {
    await openai.start();
    collector = await Collector.start();
    const db = await cloneDatabase();
    database.current = db;
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    const { env, dataDir: folder } = await testEnv(db.url, {
      LOG_LEVEL: 'trace',
      PROVIDER_POLL_INTERVAL_MS: '20',
      WEBHOOK_RETRY_SCHEDULE: '0.1,0.1',
      OPENAI_API_KEY: openai.key,
      OPENAI_BASE_URL: openai.baseUrl,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'always_on',
      ...UPSTREAM_KEYS,
      GEMINI_BASE_URL: nowhere,
      ARK_BASE_URL: `${nowhere}/api/v3`,
    });
    dataDir = folder;
    service = await spawnService(env);
    secrets.set('API key', env.BOOTSTRAP_API_KEY!).set('SECRET_KEY', SECRET_KEY).set('OpenAI', openai.key);
    secrets
      .set('prompt', PROMPT)
      .set('token in a webhook address', HOOK_TOKEN)
      .set('token of a picture', PICTURE_TOKEN);
    for (const [name, key] of Object.entries(UPSTREAM_KEYS)) secrets.set(name, key);
    secrets.set('DATABASE_URL', db.url).set('database password', decodeURIComponent(new URL(db.url).password));
    await liveThrough(service);
  });
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await openai.stop();
    await collector.stop();
    await database.current?.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function liveThrough({ api }: ServiceProcess): Promise<void> {
    const receiver = await Receiver.start((_received, response) => void response.writeHead(500).end('no'));
    const recordFailure = async <Body extends { text: string; status: number }>(
      pending: Promise<Body>,
    ): Promise<Body> => {
      const answer = await pending;
      if (answer.status >= 400) exposed.push(answer.text);
      return answer;
    };
    const post = <Body>(path: string, body?: unknown, headers = {}) =>
      recordFailure(api.call<Body>('POST', path, body, headers));
    const create = (body: object, waitS = 60) => post<{ task_id: string; result?: { outputs: { url: string }[] } }>('/v1/generations', { prompt: PROMPT, ...body }, { prefer: `wait=${waitS}`, 'idempotency-key': `k${exposed.length}` }); // prettier-ignore
    const graphql = async (query: string, variables = {}) => {
      exposed.push((await api.call('POST', '/graphql', { query, variables })).text);
    };

    const hook = await post<{ id: string; secret: string }>('/v1/webhook_endpoints', {
      url: `${receiver.url}?token=${HOOK_TOKEN}`,
    });
    const dead = `http://127.0.0.1:${await freePort()}/hook?token=${HOOK_TOKEN}`;
    const deadHook = await post<{ secret: string }>('/v1/webhook_endpoints', { url: dead });
    const rotated = await post<{ secret: string }>(`/v1/webhook_endpoints/${hook.body.id}/rotate_secret`, { keep_old_secret_for_hours: 1 }); // prettier-ignore
    for (const [name, { body }] of Object.entries({ hook, deadHook, rotated })) {
      secrets.set(`webhook secret, ${name}`, body.secret.replace('whsec_', ''));
    }

    const { body: good } = await create({ model: 'gpt-image-2' });
    const link = good.result!.outputs[0]!.url;
    secrets.set('signature of a link', new URL(link).searchParams.get('signature')!);
    await recordFailure(api.get(link));
    await recordFailure(api.get(link.replace('/content', 'x/content')));
    await recordFailure(api.get(`${link}x`));
    await recordFailure(api.get(link, { range: 'bytes=999999999-' }));
    await recordFailure(api.call('PUT', link));

    openai.plan(
      /POST \/v1\/images\/generations/,
      {
        reply: {
          status: 401,
          body: { error: { message: `Incorrect API key provided: ${openai.key}`, code: 'invalid_api_key' } },
        },
      },
      { reply: { status: 400, body: { error: { message: `Refused: ${PROMPT} with Bearer ${openai.key}` } } } },
      { reply: { status: 200, body: `${openai.key} ${PROMPT}` } },
    );
    for (let time = 0; time < 3; time++) exposed.push((await create({ model: 'gpt-image-2', n: 1 + time })).text.replaceAll(JSON.stringify(PROMPT), '')); // prettier-ignore
    await create({ model: 'gpt-image-2', reference_images: [`${dead}&token=${PICTURE_TOKEN}`] });
    const away = [create({ model: 'nano-banana-2' }, 2), create({ model: 'seedance-2', duration: 4 }, 2)];

    const spare = await anotherKey(api);
    const again = await post<{ key: string }>(`/v1/api_keys/${spare.id}/rotate`, { overlap_hours: 1 });
    secrets.set('second key', spare.key).set('rotated key', again.body.key);
    const stranger = newApiKey();
    secrets.set('key of a stranger', stranger);
    await recordFailure(new Api(api.baseUrl, stranger).get('/v1/models'));
    await recordFailure(new Api(api.baseUrl, stranger.slice(0, -1)).get('/v1/models'));
    await recordFailure(new Api(api.baseUrl, null).get(`/v1/models?api_key=${stranger}`));
    await recordFailure(api.get(`/v1/tasks/${spare.key}`));
    await recordFailure(api.get(`/v1/tasks?after=${spare.key}`));
    await recordFailure(api.get(`/nowhere/${spare.key}?token=${spare.key}`));
    await recordFailure(api.call('DELETE', `/v1/api_keys/${spare.key}`));
    await post('/v1/generations', `{"model":"gpt-image-2","prompt":"${PROMPT}`);
    for (const extra of [{ n: 'x' }, { n: 99 }, { model: 'none' }, { extra: PROMPT }, { metadata: { a: 1 } }])
      await post('/v1/generations', { model: 'gpt-image-2', prompt: PROMPT, ...extra });
    await post('/v1/generations', { model: 'gpt-image-2', prompt: `${PROMPT} `.repeat(2_000) });

    const mutation = 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId } }';
    await graphql(mutation, { input: { model: 'none', prompt: PROMPT } });
    await graphql(mutation, { input: { model: 'gpt-image-2', prompt: PROMPT, n: 99 } });
    await graphql(mutation, { input: { model: 'gpt-image-2', prompt: PROMPT, cake: 1 } });
    await graphql(mutation, { input: { prompt: PROMPT } });
    await graphql(mutation, { input: { model: 'gpt-image-2', prompt: [PROMPT] } });
    await graphql(`{ task(taskId: "${spare.key}") { taskId } }`);
    await graphql(
      '{ viewer { id hint key } webhookEndpoints { id secret url } tasks { edges { node { taskId error { message } } } } }',
    );
    await graphql(`mutation { createGeneration(input: { model: "x", prompt: "${PROMPT}", cake: 1 }) { taskId } }`);

    await overSockets(api, spare, stranger, good.task_id);

    for (const { body } of await Promise.all(away)) await recordFailure(api.get(`/v1/tasks/${body.task_id}`));
    await receiver.until(2);
    await sleep(500); // for the other attempts
    exposed.push(
      (await api.get('/metrics')).text,
      (await api.get('/readyz')).text,
      (await api.get('/openapi.json')).text,
    );
    await receiver.stop();

    const early = new RawSocket(api.baseUrl, `Bearer ${api.key}`);
    await early.received('to be let in', 'connection_ack');
    await database.current!.drop(); // from here on everything fails
    await recordFailure(api.get('/v1/tasks'));
    await create({ model: 'gpt-image-2' });
    await graphql('{ tasks { edges { cursor } } }');
    await early.subscribe('late', '{ tasks { edges { cursor } } }');
    early.close();
    exposed.push(...early.texts, (await api.get('/readyz')).text);
    for (const path of ['/v1/events', `/v1/tasks/${good.task_id}/events`]) await recordFailure(api.get(path));
    await sleep(500); // the log is written every 200 ms
  }

  /** Subscriptions and streams of the owner, and failures over both. */
  async function overSockets(api: Api, spare: { id: string; key: string }, stranger: string, madeId: string) {
    const events = 'subscription { tasksUpdated { taskId status progress error { code message } } }';
    const mine = new RawSocket(api.baseUrl, `Bearer ${api.key}`);
    await mine.subscribe('query', '{ viewer { id hint key } webhookEndpoints { id secret url } }');
    await mine.subscribe('misspelt', `{ task(taskId: "${spare.key}") { taskId tale } }`);
    await mine.subscribe('unknown', `subscription { taskUpdated(taskId: "${spare.key}") { taskId } }`);
    await mine.subscribe('broken', `mutation { createGeneration(input: { model: "x", prompt: "${PROMPT}" `);
    const mutation = 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId } }';
    for (const [nth, flaw] of [{ n: 99 }, { cake: 1 }, { prompt: [PROMPT] }].entries()) {
      await mine.subscribe(`flaw ${nth}`, mutation, { input: { model: 'gpt-image-2', prompt: PROMPT, ...flaw } });
    }
    await mine.subscribe(
      'made',
      `subscription { taskUpdated(taskId: "${madeId}") { taskId status error { message } } }`,
    );
    mine.send({ id: 'all', type: 'subscribe', payload: { query: events } });
    const reader = await EventReader.open(api.baseUrl, '/v1/events', api.key!);
    openai.plan(/POST \/v1\/images\/generations/, {
      reply: { status: 400, body: { error: { message: `Refused: ${PROMPT} with Bearer ${openai.key}` } } },
    });
    const failing = await api.create({ model: 'gpt-image-2', prompt: PROMPT });
    await mine.received('the end over the socket', `"taskId":"${failing.body.task_id}","status":"FAILED"`);
    await reader.until('the end over the stream', () => reader.of(failing.body.task_id).at(-1)?.status === 'failed');
    const one = await EventReader.open(api.baseUrl, `/v1/tasks/${failing.body.task_id}/events`, api.key!);
    await one.ended;
    for (const { reply, events: seen, comments } of [reader, one]) {
      exposed.push(withoutOwn(JSON.stringify([Object.fromEntries(reply.headers), seen, comments])));
    }
    reader.close();

    mine.send(`{"type":"subscribe","id":"x","payload":{"query":"${PROMPT}`); // invalid JSON closes the socket
    await mine.closed;
    const refused = new RawSocket(api.baseUrl, `Bearer ${stranger}`);
    await refused.closed;
    const revoked = new RawSocket(api.baseUrl, `Bearer ${spare.key}`);
    await revoked.subscribe('query', '{ viewer { id } }');
    const shut = await EventReader.open(api.baseUrl, '/v1/events', spare.key);
    await api.call('DELETE', `/v1/api_keys/${spare.id}`);
    await Promise.all([revoked.closed, shut.ended.catch(() => undefined)]);
    for (const { texts } of [mine, refused, revoked]) exposed.push(...texts.map(withoutOwn));
    exposed.push(JSON.stringify([shut.events, shut.comments]));
    sockets = mine.texts.length + refused.texts.length + revoked.texts.length;
    streamed = reader.events.length + one.events.length;
  }

  it('were used: the log is long, and many requests failed', () => {
    expect(service.output().split('\n').length).toBeGreaterThan(80);
    expect(exposed.length).toBeGreaterThan(35);
    expect(service.output()).toMatch(/"level":"(warn|error)"/);
    expect(exposed.join()).toContain('service_unavailable');
    expect(sockets).toBeGreaterThan(15);
    expect(streamed).toBeGreaterThan(2);
    for (const word of ['"type":"error"', '"type":"next"', '4403', '4400']) expect(exposed.join()).toContain(word);
    expect(secrets.size).toBeGreaterThan(15);
    for (const [name, secret] of secrets) expect([name, secret.length > 9]).toEqual([name, true]);
  });

  it('are in no line of the log', () => expect(traces([service.output()])).toEqual([]));

  it('are in no span', async () => {
    await eventually('the spans of the failures', async () => collector.spans.some(({ isError }) => isError));
    expect(collector.spans.length).toBeGreaterThan(50);
    expect(traces([collector.text, JSON.stringify(collector.spans)])).toEqual([]);
  });

  it('are in no failure, GraphQL answer, socket message, event or metric', () => {
    // The owner of an endpoint may read its URL.
    const bodies = exposed.map((text) => text.replaceAll(new RegExp(`http[^"]*token=${HOOK_TOKEN}`, 'g'), ''));
    expect(traces(bodies)).toEqual([]);
  });

  it('are not shown when the start fails', async () => {
    const url = new URL(database.current!.url);
    url.password = 'wrong-pass-8812';
    url.port = String(await freePort());
    const { env, dataDir: folder } = await testEnv(url.href, { LOG_LEVEL: 'trace' });
    const words = [url.password, env.BOOTSTRAP_API_KEY!, SECRET_KEY];
    const flaws: Record<string, string>[] = [
      {}, // no database listens there
      // One message names every bad value.
      { PORT: 'x', SECRET_KEY: `${SECRET_KEY}x`, BOOTSTRAP_API_KEY: `${env.BOOTSTRAP_API_KEY}x`, DATABASE_URL: url.href.replace('postgres', 'cake') }, // prettier-ignore
    ];
    const messages = await Promise.all(
      flaws.map((flaw) =>
        spawnService({ ...env, ...flaw }).then(
          () => 'started',
          (error: Error) => error.message,
        ),
      ),
    );
    for (const message of messages) {
      expect(message).toContain('did not start');
      for (const word of words) expect(message).not.toContain(word);
    }
    await rm(folder, { recursive: true, force: true });
  });

  const traces = (texts: readonly string[]): string[] => tracesOf(secrets, texts);
});
