import { jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipPauses } from '../../../test/support/clock.ts';
import { firstRecommendation, generateCommand, run } from './generate.ts';

const IMAGE = Buffer.from('the bytes of a picture');
const SHA256 = createHash('sha256').update(IMAGE).digest('hex');

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A stub service: sends the given answers in order and records the requests. */
let answers: Answer[];
let requests: { line: string; key: string | undefined; idempotencyKey: unknown; body: string }[];
let folder: string;
let url: string;
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { authorization: key, 'idempotency-key': idempotencyKey } = request.headers;
  requests.push({ line: `${request.method} ${request.url}`, key, idempotencyKey, body });
  answers.shift()!(request, response);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(async () => {
  [answers, requests] = [[], []];
  folder = await mkdtemp(join(tmpdir(), 'generate-'));
  jest.spyOn(console, 'log').mockImplementation(() => undefined);
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const json =
  (body: object, status = 200, headers = {}): Answer =>
  (_, response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const stream =
  (...states: object[]): Answer =>
  (_, response) =>
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(states.map((state) => `data: ${JSON.stringify(state)}\n\n`).join(''));
const bytes: Answer = (_, response) => response.end(IMAGE);
const drop: Answer = (request) => request.socket.destroy();

const ID = 'task_01jd8e5t9kf3qs7m2v4xw6yzab';
const task = (status: string, more: object = {}) => ({ task_id: ID, status, progress: 0, ...more });
const succeeded = (count = 1, sha256 = SHA256) =>
  task('succeeded', {
    result: {
      outputs: Array.from({ length: count }, (_, index) => ({
        index,
        url: `${url}/file/${index}`,
        content_type: 'image/png',
        size_bytes: IMAGE.length,
        sha256,
      })),
    },
  });
const generate = (out: string) => run({ model: 'm', prompt: 'p' }, { url: `${url}/`, key: 'dr_test', out });

describe('generate', () => {
  it.each([
    ['task id', { task_id: '../../task_1' }],
    ['task id', { task_id: undefined }],
    ['index', { result: { outputs: [{ index: '/../../x', url: 'http://127.0.0.1', content_type: '', sha256: '' }] } }],
  ])('refuses an answer whose %s could lead outside of the folder', async (what, answer) => {
    answers = [json({ ...succeeded(), ...answer }, 201)];
    await expect(generate(folder)).rejects.toThrow(`an invalid ${what}`);
    expect(await readdir(folder)).toEqual([]);
  });

  it('creates a task, follows it until it is final, saves each output in the folder and prints the file names', async () => {
    answers = [json(task('queued'), 201), stream(task('running'), succeeded(2)), bytes, bytes];
    const out = join(folder, 'new', 'folder');
    await generate(out);
    expect(requests.map(({ line }) => line)).toEqual([
      'POST /v1/generations',
      `GET /v1/tasks/${ID}/events`,
      'GET /file/0',
      'GET /file/1',
    ]);
    expect(JSON.parse(requests[0]!.body)).toEqual({ model: 'm', prompt: 'p' });
    expect(await readdir(out)).toEqual([`${ID}-0.png`, `${ID}-1.png`]);
    expect(await readFile(join(out, `${ID}-0.png`))).toEqual(IMAGE);
    expect(jest.mocked(console.log).mock.calls.flat()).toEqual([join(out, `${ID}-0.png`), join(out, `${ID}-1.png`)]);
  });

  it('sends the API key to the API only, not with the signed link', async () => {
    answers = [json(succeeded(), 201), bytes];
    await generate(folder);
    expect(requests.map(({ key }) => key)).toEqual(['Bearer dr_test', undefined]);
  });

  it('saves one output under the file name given', async () => {
    answers = [json(succeeded(), 201), bytes];
    await generate(join(folder, 'cat.png'));
    expect(await readdir(folder)).toEqual(['cat.png']);
  });

  it('retries a creation whose response was lost, with the same idempotency key', async () => {
    answers = [drop, json(succeeded(), 201), bytes];
    await generate(folder);
    const [first, second] = requests;
    expect(second!.line).toBe('POST /v1/generations');
    expect(first!.idempotencyKey).toMatch(/^[0-9a-f]{32}$/);
    expect(second!.idempotencyKey).toBe(first!.idempotencyKey);
  });

  it('waits for Retry-After before it retries', async () => {
    answers = [json({}, 429, { 'retry-after': '1' }), json(succeeded(), 201), bytes];
    const pauses = skipPauses((ms) => ms === 1_000);
    await generate(folder);
    expect(pauses).toHaveLength(1);
  });

  it("fails with the service's message when a request is refused, and does not retry", async () => {
    answers = [json({ error: { code: 'insufficient_scope', message: 'Lacks it.' } }, 403)];
    await expect(generate(folder)).rejects.toMatchObject({ code: 'insufficient_scope', message: 'Lacks it.' });
    expect(requests).toHaveLength(1);
  });

  it('fails when the task does', async () => {
    const error = { code: 'content_policy_violation', message: 'Not that.' };
    answers = [json(task('queued'), 201), stream(task('failed', { error }))];
    await expect(generate(folder)).rejects.toThrow('content_policy_violation: Not that.');
  });

  it('deletes a file that arrives damaged', async () => {
    answers = [json(succeeded(1, '0'.repeat(64)), 201), bytes];
    await expect(generate(folder)).rejects.toThrow(/damaged/);
    expect(await readdir(folder)).toEqual([]);
  });

  it('takes the first recommendation without a model, and the model that is named without a look', async () => {
    const model = (id: string, kind: string, available = true) => ({ id, kind, available });
    answers = [json({ object: 'list', data: [model('first', 'image')] }), json(succeeded(), 201), bytes];
    const options = ['--url', url, '--key', 'dr_test', '--out', folder];
    await generateCommand().parseAsync(['p', ...options], { from: 'user' });
    expect(requests.map(({ line }) => line).slice(0, 2)).toEqual(['GET /v1/models', 'POST /v1/generations']);
    expect(JSON.parse(requests[1]!.body)).toEqual({ model: 'first', prompt: 'p' });
    [answers, requests] = [[json(succeeded(), 201), bytes], []];
    await generateCommand().parseAsync(['p', '--model', 'm', ...options], { from: 'user' });
    expect(requests.map(({ line }) => line)).toEqual(['POST /v1/generations', 'GET /file/0']);
  });

  it('sets any parameter of the model, as the type that it has there', async () => {
    const properties = { seed: { type: 'integer' }, mask: { type: 'string' }, generate_audio: { type: 'boolean' } };
    answers = [json({ id: 'm', kind: 'image', parameters: { properties } }), json(succeeded(), 201), bytes];
    const set = ['--set', 'seed=7', 'mask=1', 'generate_audio=maybe', '--set', 'x_no=a=b'];
    const options = ['--model', 'm', '--url', url, '--key', 'dr_test', '--out', folder];
    await generateCommand().parseAsync(['p', ...options, ...set], { from: 'user' });
    const sent = { model: 'm', prompt: 'p', seed: 7, mask: '1', generate_audio: 'maybe', x_no: 'a=b' };
    expect(JSON.parse(requests[1]!.body)).toEqual(sent);
  });

  it('recommends a model that is available, for a video if an option is one of videos', () => {
    const models = [
      { id: 'away', kind: 'image', available: false, parameters: { properties: { seed: {} } } },
      { id: 'picture', kind: 'image', available: true, parameters: { properties: { seed: {} } } },
      { id: 'film', kind: 'video', available: true, parameters: { properties: { seed: {}, generate_audio: {} } } },
    ] as const;
    expect(firstRecommendation(models, {})).toBe('picture');
    expect(firstRecommendation(models, { duration: 5 })).toBe('film');
    expect(firstRecommendation(models, { set: { generate_audio: 'true' } })).toBe('film');
    expect(firstRecommendation(models, { set: { seed: '7' } })).toBe('picture');
    expect(firstRecommendation(models, { set: { x_none: '7' } })).toBe('picture');
    expect(firstRecommendation(models.slice(0, 1), {})).toBe('away'); // the service says why
    for (const none of [[], models.slice(2)])
      expect(() => firstRecommendation(none, {})).toThrow('No image model is served here.');
  });

  it('asks for a key when there is none', async () => {
    await expect(run({}, { url, key: undefined, out: folder })).rejects.toThrow(/DARKROOM_API_KEY/);
    expect(requests).toEqual([]);
  });
});
