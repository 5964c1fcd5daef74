import OpenAI from 'openai';
import { setTimeout as sleep } from 'node:timers/promises';
import { fingerprintOf } from '../../../src/calls/fingerprint.ts';
import { type TestService, startOwnService } from '../../support/service.ts';
import type { ErrorBody } from '../../support/clients/api.ts';
import { LockedRows } from '../../support/faults/locked-rows.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';
import { type CutAt, cutFetch } from './cut-fetch.ts';

/** The long form repeats each cut twenty times. */
const ROUNDS = process.env.DARKROOM_TEST_LONG === '1' ? 20 : 3;
const SUBMIT = /^POST .*\/images\/generations$/;
const PATH = '/v1/images/generations';

interface Row {
  id: string;
  status: string;
}

describe('a call that is cut and repeated by the client buys once', () => {
  let service: TestService;
  let round = 0;
  const stub = new OpenaiStub();
  beforeAll(async () => {
    await stub.start();
    service = await startOwnService({
      OPENAI_API_KEY: stub.key,
      OPENAI_BASE_URL: stub.baseUrl,
      MAX_RUNNING_PER_KEY: '1',
    });
  });
  afterAll(async () => {
    await service.close();
    await stub.stop();
  });

  const prompt = () => `A lighthouse ${(round += 1)}`;
  const tasksOf = (text: string) =>
    queryOnce<Row>(service.database.url, `select id, status from tasks where input->>'prompt' = $1 order by id`, [
      text,
    ]);
  const callsOf = () =>
    queryOnce<{ id: string; hung_up_at: Date | null; delivered_at: Date | null }>(
      service.database.url,
      `select * from calls where id <> 'call_lost' order by id desc limit 1`, // which a test has named itself
    );
  const isIn = (text: string, status: string) => () =>
    eventually(`a task that is ${status}`, async () => (await tasksOf(text))[0]?.status === status);
  const submitsOf = (text: string) => stub.requests.filter(({ fields }) => fields.prompt === text).length;
  const generate = (text: string, cut: CutAt, options: object = {}) =>
    openaiClient(service, { maxRetries: 2, fetch: cutFetch(cut), ...options })
      .images.generate({ prompt: text, size: '2048x2048' })
      .withResponse();

  /** @returns the task of the answer */
  async function expectOne(text: string, { data, response }: { data: OpenAI.ImagesResponse; response: Response }) {
    expect(data.data![0]!.b64_json!.length).toBeGreaterThan(1_000);
    const tasks = await tasksOf(text);
    expect(tasks.map(({ id }) => id)).toEqual([response.headers.get('task-id')]);
    expect(submitsOf(text)).toBe(1);
    expect(response.headers.get('idempotent-replayed')).toBe('true');
  }

  const rounds = Array.from({ length: ROUNDS }, (_, at) => at + 1);

  it.each(rounds)('before its task is stored (round %i)', async () => {
    const text = prompt();
    await warmUp();
    const locked = await LockedRows.of(service.database.url, 'key_load');
    const cut = {
      reach: () =>
        eventually('the creation to wait', () => locked.areAwaited()).then(
          () => void setTimeout(() => void locked.release(), 100),
        ),
    };
    await expectOne(text, await generate(text, cut));
  });

  it.each(rounds)('at a random moment of its first milliseconds (round %i)', async () => {
    const text = prompt();
    const { data } = await generate(text, { reach: () => sleep(Math.random() * 12) });
    expect(data.data).toHaveLength(1);
    expect(await tasksOf(text)).toHaveLength(1);
    expect(submitsOf(text)).toBe(1);
  });

  it.each(rounds)('while it is queued (round %i)', async () => {
    const text = prompt();
    stub.plan(SUBMIT, { delayMs: 300 });
    const blocker = await service.api.create({ model: 'gpt-image-2', prompt: `blocks ${text}` });
    await service.api.until(blocker.body.task_id, 'running');
    await expectOne(text, await generate(text, { reach: isIn(text, 'queued') }));
  });

  it.each(rounds)('while it is running (round %i)', async () => {
    const text = prompt();
    stub.plan(SUBMIT, { delayMs: 300 });
    await expectOne(text, await generate(text, { reach: isIn(text, 'running') }));
  });

  it.each(rounds)('in the middle of its answer (round %i)', async () => {
    const text = prompt();
    await expectOne(text, await generate(text, 'answer'));
  });

  it('twice, and the last retry gets the result', async () => {
    const text = prompt();
    stub.plan(SUBMIT, { delayMs: 400 });
    const fetch = cutFetch({ reach: isIn(text, 'running') }, 'answer');
    await expectOne(text, await generate(text, 'answer', { fetch }));
  });

  it('and a hang-up cancels nothing: the result stays in the list', async () => {
    const text = prompt();
    stub.plan(SUBMIT, { delayMs: 300 });
    const refused = generate(text, { reach: isIn(text, 'running') }, { maxRetries: 0 });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.APIConnectionError);
    await isIn(text, 'succeeded')();
  });

  it('and two deliberate equal calls stay two tasks', async () => {
    const text = prompt();
    const openai = openaiClient(service);
    await openai.images.generate({ prompt: text });
    const [a, b] = await Promise.all([1, 2].map(() => openai.images.generate({ prompt: text }).withResponse()));
    expect(a!.response.headers.get('task-id')).not.toBe(b!.response.headers.get('task-id'));
    expect(await tasksOf(text)).toHaveLength(3);
  });

  it('and two calls cut at once get their own tasks back', async () => {
    const text = prompt();
    stub.plan(SUBMIT, { delayMs: 200 });
    const bothStored = () => eventually('two tasks', async () => (await tasksOf(text)).length === 2);
    const both = await Promise.all([1, 2].map(() => generate(text, { reach: bothStored })));
    expect(new Set(both.map(({ response }) => response.headers.get('task-id'))).size).toBe(2);
    expect(await tasksOf(text)).toHaveLength(2);
  });

  it('and a retry of a delivered call makes a new task', async () => {
    const text = prompt();
    const body = { prompt: text };
    await service.api.call('POST', PATH, body);
    await eventually('the delivery', async () => (await callsOf())[0]?.delivered_at);
    const retried = await service.api.call('POST', PATH, body, { 'x-stainless-retry-count': '1' });
    expect(retried.headers.get('idempotent-replayed')).toBeNull();
    expect(await tasksOf(text)).toHaveLength(2);
  });

  it('and a retry with another body, key or path never joins', async () => {
    const text = prompt();
    await expect(generate(text, { reach: isIn(text, 'succeeded') }, { maxRetries: 0 })).rejects.toThrow();
    const other = { prompt: text, size: '2048x2048', n: 1 };
    await service.api.call('POST', PATH, other, { 'x-stainless-retry-count': '1' });
    expect(await tasksOf(text)).toHaveLength(2);
  });

  it('and a call whose process died before the task was stored is completed by its retry', async () => {
    const body = { prompt: prompt() };
    const [{ api_key_id }] = await queryOnce<{ api_key_id: string }>(
      service.database.url,
      'select api_key_id from key_load',
    );
    await queryOnce(
      service.database.url,
      `insert into calls (id, api_key_id, path, fingerprint) values ('call_lost', $1, $2, decode($3, 'hex'))`,
      [api_key_id, PATH, fingerprintOf(PATH, body)],
    );
    const retried = await service.api.call('POST', PATH, body, { 'x-stainless-retry-count': '1' });
    expect(retried.status).toBe(200);
    const [row] = await queryOnce<{ task_id: string }>(
      service.database.url,
      `select * from calls where id = 'call_lost'`,
    );
    expect(row!.task_id).toBe(retried.headers.get('task-id'));
  });

  it('and a retry takes a call only from an earlier retry, whose process may be dead', async () => {
    const body = { prompt: prompt() };
    const first = await service.api.call('POST', PATH, body);
    const taskId = first.headers.get('task-id');
    const held = `update calls set delivered_at = null, joined_until = now() + interval '30 s', joined_retry = 1 where task_id = $1`;
    await eventually('the delivery', async () => (await callsOf())[0]?.delivered_at);
    await queryOnce(service.database.url, held, [taskId]);
    const retry = (count: string) => service.api.call('POST', PATH, body, { 'x-stainless-retry-count': count });
    expect((await retry('1')).headers.get('task-id')).not.toBe(taskId);
    await eventually('its delivery', async () => (await callsOf())[0]?.delivered_at); // else the next one joins this call
    expect((await retry('2')).headers.get('task-id')).toBe(taskId);
  });

  it('and an Idempotency-Key finds its task on every attempt, and no other body', async () => {
    const text = prompt();
    const headers = { 'idempotency-key': `k-${text}` };
    const ask = (body: object) => service.api.call<ErrorBody & { task_id: string }>('POST', PATH, body, headers);
    const twins = await Promise.all([ask({ prompt: text }), ask({ prompt: text })]);
    const again = await ask({ prompt: text });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(new Set([...twins, again].map(({ body }) => body.task_id)).size).toBe(1);
    const other = await ask({ prompt: `${text} too` });
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    const native = await service.api.create<ErrorBody>({ model: 'gpt-image-2', prompt: text }, headers);
    expect([native.status, native.body.error.code]).toEqual([422, 'idempotency_key_reused']);
  });

  /** The first creation of a key inserts its counters. */
  async function warmUp(): Promise<void> {
    if ((await queryOnce(service.database.url, 'select 1 from key_load')).length > 0) return;
    const { body } = await service.api.create({ model: 'gpt-image-2', prompt: 'warm-up' });
    await service.api.untilFinal(body.task_id);
  }
});

describe('a call that waits too long', () => {
  let service: TestService;
  beforeAll(async () => (service = await startOwnService({ SYNC_WAIT_S: '0.5' })));
  afterAll(() => service.close());

  it('gets 504, and its retry gets the result of the same task', async () => {
    const body = { prompt: 'slow #delay:1.2' };
    const first = await service.api.call<ErrorBody>('POST', PATH, body);
    const taskId = first.headers.get('task-id')!;
    expect([first.status, first.body.error.code, first.body.error.type]).toEqual([
      504,
      'generation_timeout',
      'server_error',
    ]);
    expect(first.headers.get('x-should-retry')).toBe('true');
    expect(first.headers.get('retry-after')).toBe('1');
    expect(first.body.error.message).toContain(taskId);
    const { data, response } = await openaiClient(service, { maxRetries: 5 })
      .images.generate({ prompt: 'slow #delay:1.2' }, { headers: { 'x-stainless-retry-count': '1' } })
      .withResponse();
    expect(response.headers.get('task-id')).toBe(taskId);
    expect(data.data).toHaveLength(1);
    const tasks = await service.api.get<{ data: object[] }>('/v1/tasks');
    expect(tasks.body.data).toHaveLength(1);
  });

  it('is answered 503 at once when the service stops, and the task goes on', async () => {
    const other = await startOwnService();
    const waiting = fetch(new URL(PATH, other.baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${other.api.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prompt: '#hang' }),
    });
    await eventually('the task', async () => {
      const { body } = await other.api.get<{ data: { status: string }[] }>('/v1/tasks');
      return body.data[0]?.status === 'running';
    });
    const closed = other.close();
    const reply = await waiting;
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([503, 'true']);
    await closed;
  });
});
