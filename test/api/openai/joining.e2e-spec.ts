// Own settings: a provider that the test holds and counts, and one running task at a time.
import OpenAI from 'openai';
import { fingerprintOf } from '../../../src/calls/fingerprint.ts';
import { type OwnService, startOwnService } from '../../support/service.ts';
import type { ErrorBody } from '../../support/clients/api.ts';
import { LockedRows } from '../../support/faults/locked-rows.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';
import { type CutAt, cutFetch } from './cut-fetch.ts';

/** The long form repeats each cut twenty times. */
const ROUNDS = process.env.DARKROOM_TEST_LONG === '1' ? 20 : 1;
const SUBMIT = /^POST .*\/images\/generations$/;
const PATH = '/v1/images/generations';
/** More bytes than the connection takes at once, so that an answer can be cut in its middle. */
const LARGE = { size: '2048x2048' } as const;
const SMALL = '1024x1024';

interface Options {
  size?: typeof SMALL | '2048x2048';
  maxRetries?: number;
  fetch?: typeof fetch;
}

interface Row {
  id: string;
  status: string;
}

describe('a call that is cut and repeated by the client buys once', () => {
  let service: OwnService;
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
    queryOnce<{ delivered_at: Date | null }>(
      service.database.url,
      `select * from calls where id <> 'call_lost' order by id desc limit 1`, // which a test has named itself
    );
  const isIn = (text: string, status: string) => () =>
    eventually(`a task that is ${status}`, async () => (await tasksOf(text))[0]?.status === status);
  /** Holds the provider's answers to the next request until `end`, so that a task does not end before its call is cut. */
  const hold = () => {
    const { promise, resolve: end } = Promise.withResolvers<void>();
    stub.plan(SUBMIT, { restAfter: promise });
    return { end };
  };
  const areJoined = (text: string, calls = 1) =>
    eventually('the retry to join', async () => {
      const joined = `select 1 from calls c join tasks t on t.id = c.task_id
        where t.input->>'prompt' = $1 and c.joined_until > now() and c.joined_retry > 0`;
      return (await queryOnce(service.database.url, joined, [text])).length === calls;
    });
  const isHungUp = (text: string) =>
    eventually('the hang-up', async () => {
      const hungUp = `select 1 from calls where fingerprint = decode($1, 'hex') and hung_up_at is not null`;
      const values = [fingerprintOf(PATH, { prompt: text, size: SMALL })];
      return (await queryOnce(service.database.url, hungUp, values)).length === 1;
    });
  const submitsOf = (text: string) => stub.requests.filter(({ fields }) => fields.prompt === text).length;
  const generate = (text: string, cut: CutAt, { size = SMALL, ...options }: Options = {}) =>
    openaiClient(service, { maxRetries: 2, fetch: cutFetch(cut), ...options })
      .images.generate({ prompt: text, size })
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
    const answer = generate(text, { reach: () => eventually('the creation to wait', () => locked.areAwaited()) });
    await isHungUp(text);
    await locked.release();
    await expectOne(text, await answer);
  });

  it.each([0, 1, 10, 100])('after %i turns of the event loop, wherever it is then', async (turns) => {
    const text = prompt();
    const reach = async () => {
      for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
    };
    const { data } = await generate(text, { reach });
    expect(data.data).toHaveLength(1);
    expect(await tasksOf(text)).toHaveLength(1);
    expect(submitsOf(text)).toBe(1);
  });

  it.each(rounds)('while it is queued (round %i)', async () => {
    const text = prompt();
    const held = hold();
    const blocker = await service.api.create({ model: 'gpt-image-2', prompt: `blocks ${text}` });
    await service.api.until(blocker.body.task_id, 'running');
    const answer = generate(text, { reach: isIn(text, 'queued') });
    await areJoined(text);
    held.end();
    await expectOne(text, await answer);
  });

  it.each(rounds)('while it is running (round %i)', async () => {
    const text = prompt();
    const held = hold();
    const answer = generate(text, { reach: isIn(text, 'running') });
    await areJoined(text);
    held.end();
    await expectOne(text, await answer);
  });

  it.each(rounds)('in the middle of its answer (round %i)', async () => {
    const text = prompt();
    await expectOne(text, await generate(text, 'answer', LARGE));
  });

  it('twice, and the last retry gets the result', async () => {
    const text = prompt();
    const held = hold();
    const fetch = cutFetch({ reach: isIn(text, 'running') }, 'answer');
    const answer = generate(text, 'answer', { ...LARGE, fetch });
    await areJoined(text);
    held.end();
    await expectOne(text, await answer);
  });

  it('and a hang-up cancels nothing: the result stays in the list', async () => {
    const text = prompt();
    const held = hold();
    const refused = generate(text, { reach: isIn(text, 'running') }, { maxRetries: 0 });
    await expect(refused).rejects.toBeInstanceOf(OpenAI.APIConnectionError);
    await isHungUp(text);
    held.end();
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
    const held = hold();
    const bothStored = () => eventually('two tasks', async () => (await tasksOf(text)).length === 2);
    const answers = Promise.all([1, 2].map(() => generate(text, { reach: bothStored })));
    await areJoined(text, 2);
    held.end();
    const both = await answers;
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

  it('and its row is stored before its task', async () => {
    const text = prompt();
    const locked = await LockedRows.by(service.database.url, 'lock table calls in share row exclusive mode');
    const answered = openaiClient(service).images.generate({ prompt: text });
    await eventually('the call to wait', () => locked.areAwaited());
    const { body } = await service.api.create({ model: 'gpt-image-2', prompt: `later than ${text}` });
    await service.api.untilFinal(body.task_id);
    expect(await tasksOf(text)).toEqual([]);
    await locked.release();
    expect((await answered).data).toHaveLength(1);
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

  it('and one that waits too long gets 504, and its retry gets the result of the same task', async () => {
    const { DATABASE_URL: _url, PORT: _port, PUBLIC_URL: _publicUrl, ...env } = service.env;
    const hasty = await startOwnService({ ...env, ROLE: 'api', SYNC_WAIT_S: '0.5' }, service.database);
    const text = prompt();
    const held = hold();
    const first = await hasty.api.call<ErrorBody>('POST', PATH, { prompt: text });
    const taskId = first.headers.get('task-id')!;
    expect([first.status, first.body.error.code, first.body.error.type]).toEqual([
      504,
      'generation_timeout',
      'server_error',
    ]);
    expect(first.headers.get('x-should-retry')).toBe('true');
    expect(first.headers.get('retry-after')).toBe('1');
    expect(first.body.error.message).toContain(taskId);
    const equal = await hasty.api.call<ErrorBody>('POST', PATH, { prompt: text });
    expect([equal.status, equal.headers.get('task-id')]).toEqual([504, taskId]);
    const statuses: number[] = [];
    const endAfterOne: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (statuses.push(response.status) === 1) {
        held.end();
        await service.api.untilFinal(taskId);
      }
      return response;
    };
    const { data, response } = await openaiClient(hasty, { maxRetries: 5, fetch: endAfterOne })
      .images.generate({ prompt: text }, { headers: { 'x-stainless-retry-count': '2' } })
      .withResponse();
    expect(statuses[0]).toBe(504);
    expect(response.headers.get('task-id')).toBe(taskId);
    expect(data.data).toHaveLength(1);
    expect(await tasksOf(text)).toHaveLength(1);
    await hasty.close();
  });

  // The last test: it stops the service.
  it('and one that waits when the service stops is answered 503 at once, and the task goes on', async () => {
    const text = prompt();
    const held = hold();
    const waiting = service.api.call('POST', PATH, { prompt: text });
    await isIn(text, 'running')();
    const closed = service.close();
    const reply = await waiting;
    expect([reply.status, reply.headers.get('x-should-retry')]).toEqual([503, 'true']);
    held.end();
    await closed;
    expect(service.output()).not.toContain('listeners added');
  });

  /** The first creation of a key inserts its counters. */
  async function warmUp(): Promise<void> {
    if ((await queryOnce(service.database.url, 'select 1 from key_load')).length > 0) return;
    const { body } = await service.api.create({ model: 'gpt-image-2', prompt: 'warm-up' });
    await service.api.untilFinal(body.task_id);
  }
});
