import { jest } from '@jest/globals';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { skipPauses } from '../../../../test/support/clock.ts';
import { Darkroom } from '../darkroom.ts';
import { ConnectionError, RateLimitError, ServerError } from '../errors.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

let answers: Answer[];
let requests: IncomingMessage[];
let attempts: { method: string; url: string; attempt: number }[];
let baseUrl: string;
let pauses: number[];
const server = createServer((request, response) => {
  requests.push(request);
  request.resume();
  answers.shift()!(response, request);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  [answers, requests, attempts] = [[], [], []];
  pauses = skipPauses((ms) => ms < 60_000); // other than the time-out
});
afterEach(() => jest.restoreAllMocks());

const client = (more: object = {}) =>
  new Darkroom({ baseUrl, apiKey: 'dr_test', onRequest: (request) => attempts.push(request), ...more });

const answer =
  (status: number, headers: object = {}, body: object = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const task = answer(201, {}, { task_id: 'task_1', status: 'queued' });
const refusal = (code: string) => ({ error: { code, message: 'No.', type: 'a_type', param: null } });
const drop: Answer = (_, request) => request.socket.destroy();
const half: Answer = (response) => {
  response.writeHead(200, { 'content-length': '100' }).write('{"data"', () => response.destroy());
};

/** No answer, whatever the load of the machine. */
const silence: typeof fetch = (_, init) =>
  new Promise((_resolve, reject) => {
    init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
  });

/** Half a second, then a second, each up to a quarter shorter. */
const expectBackoff = () => {
  const [first, second, ...more] = pauses as [number, number];
  expect(more).toEqual([]);
  expect([first >= 375 && first <= 500, second >= 750 && second <= 1_000]).toEqual([true, true]);
};

const create = () => client().generate({ model: 'gpt-image-2', prompt: 'A cat' });
const endpoint = () => client().webhookEndpoints.create({ url: 'https://example.com' });

describe('a request', () => {
  it('waits as long as Retry-After says', async () => {
    answers = [answer(429, { 'retry-after': '1' }, refusal('queue_full')), task];
    expect((await create()).id).toBe('task_1');
    expect(pauses).toEqual([1_000]);
  });

  it('is not repeated when it would have to wait for more than a minute', async () => {
    answers = [answer(429, { 'retry-after': '61' }, refusal('rate_limit_exceeded'))];
    const refused = create();
    await expect(refused).rejects.toThrow(RateLimitError);
    await expect(refused).rejects.toMatchObject({ code: 'rate_limit_exceeded', retryAfterS: 61, retryable: true });
    expect(requests).toHaveLength(1);
  });

  it.each([
    ['a cut connection', drop],
    ['408', answer(408)],
    ['409 in progress', answer(409, {}, refusal('idempotency_in_progress'))],
    ['500', answer(500)],
    ['503', answer(503)],
    ['400 with the advice to retry', answer(400, { 'x-should-retry': 'true' })],
  ])('is repeated after %s, with the same idempotency key', async (_, failure) => {
    answers = [failure, failure, task];
    expect((await create()).id).toBe('task_1');
    expectBackoff();
    expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(requests[0]!.headers['idempotency-key']).toMatch(/^[0-9a-f]{32}$/);
    expect(attempts.map(({ method, url, attempt }) => `${method} ${url} ${attempt}`)).toEqual(
      [0, 1, 2].map((attempt) => `POST ${baseUrl}/v1/generations ${attempt}`),
    );
  });

  it.each([
    ['400', answer(400, {}, refusal('invalid_value')), 'BadRequestError'],
    ['402', answer(402), 'BudgetError'],
    ['409 of another kind', answer(409, {}, refusal('task_unfinished')), 'ConflictError'],
    ['500 with the advice not to', answer(500, { 'x-should-retry': 'false' }), 'ServerError'],
  ])('is not repeated after %s', async (_, failure, name) => {
    answers = [failure];
    await expect(create()).rejects.toMatchObject({ name, retryable: false });
    expect(requests).toHaveLength(1);
  });

  it('is given up after maxRetries', async () => {
    answers = [answer(500), answer(500), answer(500)];
    await expect(create()).rejects.toThrow(ServerError);
    expect(requests).toHaveLength(3);
    answers = [answer(500)];
    await expect(client({ maxRetries: 0 }).models.list()).rejects.toThrow(ServerError);
    expect(requests).toHaveLength(4);
  });

  it('that would add something twice is repeated only if it was refused for load', async () => {
    answers = [answer(429, {}, refusal('rate_limit_exceeded')), answer(201, {}, { id: 'we_1' })];
    expect((await endpoint()).id).toBe('we_1');
    answers = [drop];
    await expect(endpoint()).rejects.toThrow(ConnectionError);
    answers = [answer(503)];
    await expect(endpoint()).rejects.toThrow(ServerError);
    expect(requests).toHaveLength(4);
  });

  it('is repeated when its answer is cut', async () => {
    answers = [half, answer(200, {}, { data: [] })];
    expect(await client().models.list()).toEqual([]);
  });

  it('ends in time', async () => {
    const silent = client({ maxRetries: 0, timeoutMs: 50, fetch: silence });
    await expect(silent.models.list()).rejects.toThrow('did not answer in time');
  });

  it('ends when its caller no longer wants it', async () => {
    const abort = new AbortController();
    const wanted = client({ fetch: silence }).models.list({ signal: abort.signal });
    abort.abort(new Error('no longer'));
    await expect(wanted).rejects.toThrow('no longer');
    expect(attempts).toHaveLength(1);
  });

  it('sends the key, and writes maps as name[key]', async () => {
    answers = [answer(200, {}, { data: [], has_more: false, last_id: null })];
    await client()
      .tasks.list({ metadata: { team: 'a b' }, status: 'failed' })
      .first();
    expect(requests[0]!.headers.authorization).toBe('Bearer dr_test');
    expect(requests[0]!.url).toBe('/v1/tasks?metadata%5Bteam%5D=a+b&status=failed');
  });

  it('names the answer of a proxy', async () => {
    answers = [(response) => response.writeHead(404).end('<html>')];
    await expect(client().models.list()).rejects.toMatchObject({
      status: 404,
      code: 'unknown',
      message: 'The service answered 404.',
    });
  });
});
