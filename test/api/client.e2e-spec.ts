import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AuthenticationError,
  BadRequestError,
  Darkroom,
  type DarkroomOptions,
  NotFoundError,
  TaskFailedError,
  type Task,
  WaitTimeoutError,
} from '../../packages/client/src/node.ts';
import { type SharedService, joinService } from '../support/service.ts';

const CAT = { model: 'gpt-image-2', prompt: 'A cat' } as const;

let service: SharedService;
let darkroom: Darkroom;
let folder: string;

beforeAll(async () => {
  service = await joinService();
  darkroom = client();
  folder = await mkdtemp(join(tmpdir(), 'client-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await service.close();
});

const client = (more: DarkroomOptions = {}) =>
  new Darkroom({ baseUrl: `${service.baseUrl}/`, apiKey: service.api.key!, ...more });

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A fetch whose answers a test can break. */
const breaking =
  (broken: (url: string, init: RequestInit, send: typeof fetch) => Promise<Response>): typeof fetch =>
  (input, init = {}) =>
    broken(String(input), init, fetch);

/** The answer up to so many bytes; then the connection breaks. */
function cutAfter(bytes: number, response: Response): Response {
  let left = bytes;
  const cut = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) controller.error(new TypeError('terminated'));
    },
  });
  return new Response(response.body!.pipeThrough(cut as never), response);
}

/** The bytes up to the end of the first event. */
async function* firstEventOf({ body }: Response): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body!) {
    yield chunk;
    text += decoder.decode(chunk, { stream: true });
    if (/^data:.*\n\n/m.test(text)) throw new TypeError('terminated');
  }
}

describe('a generation', () => {
  it('is created, followed and saved', async () => {
    const run = await darkroom.generate({ ...CAT, n: 2 });
    const percents: number[] = [];
    const task = await run.wait({ onProgress: (percent) => percents.push(percent) });
    expect(percents.at(-1)).toBe(100);
    expect(percents).toEqual(percents.toSorted((a, b) => a - b));
    expect([task.status, task.outputs.length, run.task?.status]).toEqual(['succeeded', 2, 'succeeded']);
    expect(Object.keys(JSON.parse(JSON.stringify(task)))).not.toContain('outputs');

    const path = join(folder, 'new', 'cat.png');
    expect(await task.outputs[0]!.save(path)).toBe(path);
    expect(sha256(await readFile(path))).toBe(task.outputs[0]!.sha256);
    expect(await readdir(join(folder, 'new'))).toEqual(['cat.png']);
    expect(sha256(await task.outputs[1]!.bytes())).toBe(task.outputs[1]!.sha256);
    expect((await task.outputs[1]!.blob()).type).toBe('image/png');
  });

  it('shows its states one after the other, and its end again to a late reader', async () => {
    const run = await darkroom.generate({ ...CAT, prompt: '#delay:1 A cat' });
    const states: Task[] = [];
    for await (const state of run) states.push(state);
    expect(states.at(-1)!.status).toBe('succeeded');
    for await (const state of darkroom.run(run.id)) expect(state.status).toBe('succeeded');
  });

  it('fails with the code of the task', async () => {
    const run = await darkroom.generate({ ...CAT, prompt: '#fail:content_policy_violation' });
    const error = await run.wait().catch((error: unknown) => error as TaskFailedError);
    expect(error).toBeInstanceOf(TaskFailedError);
    expect(error).toMatchObject({ code: 'content_policy_violation', retryable: false, task: { task_id: run.id } });
  });

  it('can be waited for again when the time ran out, be cancelled, and be made again', async () => {
    const run = await darkroom.generate({ ...CAT, prompt: '#hang' });
    await expect(run.wait({ timeoutMs: 300 })).rejects.toThrow(WaitTimeoutError);
    const aborted = AbortSignal.abort(new Error('enough'));
    await expect(run.wait({ signal: aborted })).rejects.toThrow('enough');
    expect(await run.cancel()).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
    await expect(run.wait()).rejects.toThrow(TaskFailedError);
    const again = await run.retry({ prompt: 'A dog' });
    const task = await again.wait();
    expect(task).toMatchObject({ parent_task_id: run.id, relation: 'variation', input: { prompt: 'A dog' } });
  });

  it('throws what the service said', async () => {
    const refused = darkroom.generate({ ...CAT, n: 11 });
    await expect(refused).rejects.toThrow(BadRequestError);
    await expect(refused).rejects.toMatchObject({
      status: 400,
      code: 'value_out_of_range',
      type: 'invalid_request_error',
      param: 'n',
      requestId: expect.stringMatching(/^.+$/),
      retryable: false,
    });
    await expect(client({ apiKey: 'dr_wrong' }).models.list()).rejects.toThrow(AuthenticationError);
    await expect(darkroom.tasks.get('task_01jd8e5t9kf3qs7m2v4xw6yzab')).rejects.toThrow(NotFoundError);
  });
});

describe('a creation that is sent again', () => {
  it('makes 50 tasks of 50 generations whose first answers were lost', async () => {
    const seen = new Set<string>();
    let requests = 0;
    const forgetful = client({
      fetch: breaking(async (url, init, send) => {
        requests += 1;
        const response = await send(url, init);
        const key = new Headers(init.headers).get('idempotency-key')!;
        if (seen.has(key)) return response;
        seen.add(key);
        await response.body?.cancel();
        throw new TypeError('fetch failed');
      }),
    });
    const metadata = { lot: 'retried' };
    const prompt = '#fail:internal_error';
    const runs = await Promise.all(Array.from({ length: 50 }, () => forgetful.generate({ ...CAT, prompt, metadata })));
    expect(requests).toBe(100);
    expect(new Set(runs.map(({ id }) => id)).size).toBe(50);
    const listed: string[] = [];
    for await (const { task_id } of darkroom.tasks.list({ metadata, limit: 100 })) listed.push(task_id);
    expect(listed.toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
  });

  it('is one task for one key of the caller', async () => {
    const options = { idempotencyKey: 'my own' };
    const [first, second] = await Promise.all([darkroom.generate(CAT, options), darkroom.generate(CAT, options)]);
    expect(second.id).toBe(first.id);
  });
});

describe('following', () => {
  const events = (url: string) => url.endsWith('/events');

  it('continues a stream that is cut, where it was', async () => {
    const resumed: (string | null)[] = [];
    const cutting = client({
      fetch: breaking(async (url, init, send) => {
        if (!events(url)) return send(url, init);
        resumed.push(new Headers(init.headers).get('last-event-id'));
        const response = await send(url, init);
        if (resumed.length === 1) return new Response(ReadableStream.from(firstEventOf(response)), response);
        await darkroom.run(/task_\w+/.exec(url)![0]).cancel();
        return response;
      }),
    });
    const run = await cutting.generate({ ...CAT, prompt: '#hang A cat' });
    await expect(run.wait()).rejects.toBeInstanceOf(TaskFailedError);
    expect(resumed).toEqual([null, expect.any(String)]);
  });

  it.each([
    ['answers something else', async () => new Response('<html>')],
    ['keeps the bytes back', async () => new Response(new ReadableStream())],
    ['cuts at once', async (response: Response) => cutAfter(1, response)],
  ])('reads the task instead where a proxy %s', async (_, instead) => {
    let reads = 0;
    const proxied = client({
      fetch: breaking(async (url, init, send) => {
        if (events(url)) return instead(await send(url, init));
        if (url.includes('?wait=')) {
          reads += 1;
          await darkroom.run(/task_\w+/.exec(url)![0]).cancel(); // the task ends while it is read, and not before
        }
        return send(url, init);
      }),
    });
    const run = await proxied.generate({ ...CAT, prompt: '#hang A cat' });
    await expect(run.wait()).rejects.toBeInstanceOf(TaskFailedError);
    expect(reads).toBeGreaterThan(0);
  });

  it('ends at once when the service refuses', async () => {
    await expect(darkroom.run('task_01jd8e5t9kf3qs7m2v4xw6yzab').wait()).rejects.toThrow(NotFoundError);
  });

  it('shows all tasks of the key', async () => {
    const abort = new AbortController();
    const states = darkroom.events({ signal: abort.signal });
    const next = states.next();
    const run = await darkroom.generate({ ...CAT, prompt: '#hang' });
    for (let state = await next; state.value?.task_id !== run.id;) state = await states.next();
    abort.abort(new Error('enough'));
    await expect(
      (async () => {
        for await (const _ of states);
      })(),
    ).rejects.toThrow('enough');
    await run.cancel();
  });
});

describe('a download', () => {
  it('reads a dead link anew', async () => {
    const asked: string[] = [];
    const dead = client({
      fetch: breaking(async (url, init, send) => {
        asked.push(url);
        const isFirst = asked.filter((each) => each.includes('signature=')).length === 1;
        return send(isFirst ? url.replace('signature=', 'signature=0') : url, init);
      }),
    });
    const task = await (await dead.generate(CAT)).wait();
    expect(sha256(await task.outputs[0]!.bytes())).toBe(task.outputs[0]!.sha256);
    expect(asked.filter((url) => url.includes('signature='))).toHaveLength(2);
  });

  it('continues where it was cut', async () => {
    const ranges: (string | null)[] = [];
    const cutting = client({
      fetch: breaking(async (url, init, send) => {
        const response = await send(url, init);
        if (!url.includes('signature=')) return response;
        ranges.push(new Headers(init.headers).get('range'));
        return ranges.length < 4 ? cutAfter(1000, response) : response;
      }),
    });
    const task = await (await cutting.generate(CAT)).wait();
    expect(sha256(await task.outputs[0]!.bytes())).toBe(task.outputs[0]!.sha256);
    expect(ranges.length).toBe(4);
    expect(ranges[1]).toMatch(/^bytes=[0-9]+-$/);
  });

  it('leaves no file when the bytes are wrong', async () => {
    const task = await (await darkroom.generate(CAT)).wait();
    const output = task.outputs[0]!;
    const wrong = client({
      fetch: breaking(async (url, init, send) =>
        url.includes('signature=') ? new Response(new Uint8Array(output.size_bytes)) : send(url, init),
      ),
    });
    const again = await wrong.run(task.task_id).wait();
    await expect(again.outputs[0]!.save(join(folder, 'wrong.png'))).rejects.toThrow('damaged');
    expect(await readdir(folder)).not.toContain('wrong.png');
  });

  it('says that a file is gone', async () => {
    const task = await (await darkroom.generate(CAT)).wait();
    await darkroom.files.delete(task.outputs[0]!.id);
    await expect(task.outputs[0]!.bytes()).rejects.toMatchObject({ status: 410, code: 'file_expired' });
  });
});

describe('the other resources', () => {
  it('keeps a task and one output of another, and gives them up', async () => {
    const [task, other] = [await (await darkroom.generate(CAT)).wait(), await (await darkroom.generate(CAT)).wait()];
    const { id } = other.outputs[0]!;
    expect(await darkroom.tasks.keep(task.task_id, 'Covers')).toMatchObject({ kept: true, collection: 'Covers' });
    expect(await darkroom.tasks.keep(task.task_id)).toMatchObject({ kept: true, collection: null });
    expect(await darkroom.files.keep(id, 'Best')).toMatchObject({ kept: true, collection: 'Best', expires_at: null });
    expect(await darkroom.tasks.get(other.task_id)).toMatchObject({ kept: true, collection: null });
    expect(await darkroom.files.unkeep(id)).toMatchObject({ kept: false, expires_at: expect.any(Number) });
    expect(await darkroom.tasks.unkeep(task.task_id)).toMatchObject({ kept: false });
    expect(await darkroom.tasks.get(other.task_id)).toMatchObject({ kept: false });
  });

  it('uploads from a path, a Blob and bytes, and uses the id', async () => {
    const task = await (await darkroom.generate(CAT)).wait();
    const path = join(folder, 'reference.png');
    await task.outputs[0]!.save(path);
    const bytes = new Uint8Array(await readFile(path));
    const uploads = [
      await darkroom.files.upload(path),
      await darkroom.files.upload(new Blob([bytes])),
      await darkroom.files.upload(bytes, { filename: 'b.png' }),
    ];
    expect(uploads.map(({ filename }) => filename)).toEqual(['reference.png', 'file', 'b.png']);
    expect(new Set(uploads.map(({ sha256 }) => sha256)).size).toBe(1);
    const edit = await darkroom.generate({ ...CAT, reference_images: [uploads[0]!.id] });
    expect((await edit.wait()).status).toBe('succeeded');
    expect(new Uint8Array(await (await darkroom.files.content(uploads[0]!.id)).arrayBuffer())).toEqual(bytes);
    const { url, bytes: size } = await darkroom.files.archive(uploads.map(({ id }) => id));
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(size);
    const expires_at = Math.floor(Date.now() / 1000) + 3600;
    const share = await darkroom.shares.create({ file_ids: [uploads[0]!.id], expires_at });
    expect((await fetch(share.url)).status).toBe(200);
    expect((await darkroom.shares.list().first()).data[0]).toEqual(share);
    expect(await darkroom.shares.delete(share.id)).toMatchObject({ id: share.id, deleted: true });
    expect((await fetch(share.url)).status).toBe(410);
    await expect(darkroom.files.upload('/nowhere/a.png')).rejects.toThrow('/nowhere/a.png cannot be read');
  });

  it('runs a batch and reads its results', async () => {
    const failing = { custom_id: 'bad', body: { ...CAT, prompt: '#fail:internal_error' } };
    const run = await darkroom.batches.create([CAT, failing], { priority: 'normal', metadata: { lot: 'batch' } });
    const batch = await run.wait();
    expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 1, failed: 1 } });
    const results = await Array.fromAsync(run.results());
    expect(results.map(({ custom_id, error }) => [custom_id, error?.code])).toEqual([
      [null, undefined],
      ['bad', 'internal_error'],
    ]);
    const lines = join(folder, 'requests.jsonl');
    await writeFile(lines, JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/generations', body: CAT }));
    const { id } = await darkroom.files.upload(lines, { purpose: 'batch' });
    expect((await (await darkroom.batches.create({ input_file_id: id })).wait()).request_counts.completed).toBe(1);
  });

  it('reads models, usage, estimates, timelines; manages webhook endpoints and keys', async () => {
    expect((await darkroom.models.list()).map(({ id }) => id)).toContain('sora-2');
    expect((await darkroom.models.get('sora-2')).kind).toBe('video');
    expect(
      (
        await darkroom.usage.get({
          start_time: Math.floor(Date.now() / 1000) - 3600,
          group_by: ['model', 'metadata.a,"b"'],
        })
      ).object,
    ).toBe('page');
    expect((await darkroom.estimates.create(CAT)).object).toBe('estimate');
    const { id } = await darkroom.generate(CAT);
    expect((await darkroom.tasks.timeline(id))[0]!.type).toBe('queued');
    expect((await darkroom.tasks.estimate(id)).task_id).toBe(id);
    expect(await darkroom.tasks.cancel({ ids: [id] })).toMatchObject({ not_found: 0 });
    expect((await darkroom.tasks.delete(id)).deleted).toBe(true);

    const endpoint = await darkroom.webhookEndpoints.create({ url: 'http://127.0.0.1:49151/hook' });
    expect(endpoint.secret).toMatch(/^whsec_/);
    expect((await darkroom.webhookEndpoints.update(endpoint.id, { description: 'mine' })).description).toBe('mine');
    expect((await darkroom.webhookEndpoints.rotateSecret(endpoint.id, 1)).secret).not.toBe(endpoint.secret);
    expect((await darkroom.webhookEndpoints.list().first()).data).toHaveLength(1);
    await darkroom.webhookEndpoints.delete(endpoint.id);

    const key = await darkroom.apiKeys.create({ name: 'guest', scopes: ['tasks:read'] });
    const guest = client({ apiKey: key.key! });
    expect((await guest.tasks.list().first()).data).toEqual([]);
    await expect(guest.generate(CAT)).rejects.toMatchObject({ name: 'PermissionError', code: 'insufficient_scope' });
    await darkroom.apiKeys.revoke(key.id);
  });
});
