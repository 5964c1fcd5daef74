import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Client } from 'pg';
import sharp from 'sharp';
import { Storage } from '../../../src/platform/storage/storage.ts';
import { SandboxProvider } from '../../../src/providers/sandbox/sandbox.provider.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { aCat, aFailure, aHang, Api, type TaskBody } from '../../support/clients/api.ts';
import { startInProcess, type InProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/wait.ts';
import { OpenaiStub } from '../../support/stubs/openai.stub.ts';

async function keyWith(service: InProcess, limits: object = {}): Promise<Api> {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'k', limits });
  return new Api(service.baseUrl, body.key);
}

describe('one key', () => {
  let service: InProcess;
  beforeAll(async () => (service = await startInProcess({ WORKER_CONCURRENCY: '50' })));
  afterAll(() => service.close());

  it('never takes every place: with 60 hanging tasks of it, the image of another key begins within 1 s', async () => {
    const [greedy, other] = [await keyWith(service, { max_running: 0 }), await keyWith(service)];
    const made = await Promise.all(Array.from({ length: 60 }, () => greedy.create(aHang)));
    await sleep(1_000);
    const startedAt = performance.now();
    const { body } = await other.create(aFailure, { prefer: 'wait=20' });
    expect(body.status).toBe('failed');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    for (const task of made) await greedy.cancel(task.body.task_id);
  });

  it('shares the places evenly with two other keys', async () => {
    const keys = await Promise.all([1, 2, 3].map(() => keyWith(service, { max_running: 0 })));
    const slow = { model: 'gpt-image-2', prompt: '#fail:internal_error #delay:1' };
    for (let at = 0; at < 120; at += 1) await Promise.all(keys.map((key) => key.create(slow)));
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    // In the middle of the work: at the end every key has run all of its tasks.
    const started = await eventually('half of the tasks to start', async () => {
      const { rows } = await client.query<{ started: number }>(
        `select count(started_at)::int as started from tasks where input->>'prompt' like '%delay:1' group by api_key_id`,
      );
      const counts = rows.map((row) => row.started);
      return counts.reduce((sum, count) => sum + count, 0) >= 180 && counts;
    });
    await client.end();
    expect(started).toHaveLength(3);
    expect(Math.max(...started)).toBeLessThanOrEqual(1.2 * Math.min(...started));
  });
});

describe('reference images', () => {
  it('take little memory, however large they are and however slowly they arrive', async () => {
    const piece = Buffer.alloc(18 * 2 ** 20, 1);
    const server = createServer((_request, response) => void response.write(piece)).listen(0, '127.0.0.1'); // never ends
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const service = await startInProcess({ WORKER_CONCURRENCY: '50' });
    try {
      await service.api.create(aFailure, { prefer: 'wait=20' });
      const before = process.memoryUsage.rss();
      let highest = before;
      const sampler = setInterval(() => (highest = Math.max(highest, process.memoryUsage.rss())), 20);
      const made = [];
      for (let at = 0; at < 12; at += 1) {
        const urls = Array.from({ length: 16 }, (_, index) => `http://127.0.0.1:${port}/${at}-${index}.png`);
        made.push(await service.api.create({ model: 'gpt-image-2', prompt: 'x', reference_images: urls }));
      }
      await sleep(8_000);
      clearInterval(sampler);
      for (const task of made) await service.api.cancel(task.body.task_id);
      expect((highest - before) / 2 ** 20).toBeLessThan(512);
    } finally {
      await service.close();
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('reference images on disk', () => {
  const MB = 1_000_000;
  const scratchBytes = async () => {
    const own = (await readdir(tmpdir())).filter((name) => name.startsWith(`darkroom-run-${process.pid}-`));
    let bytes = 0;
    for (const folder of own) {
      for (const file of await readdir(join(tmpdir(), folder)).catch(() => [])) {
        bytes += await stat(join(tmpdir(), folder, file)).then(
          ({ size }) => size,
          () => 0,
        );
      }
    }
    return bytes;
  };

  it('keep within their budget, and the stalled downloads of one key leave room for another key', async () => {
    const piece = Buffer.alloc(15 * MB, 1);
    const png = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const server = createServer(({ url }, response) => {
      if (url === '/whole.png') response.end(png);
      else response.write(piece); // and no more
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const service = await startInProcess({ WORKER_CONCURRENCY: '50', SCRATCH_MAX_BYTES: String(400 * MB) });
    try {
      const made = [];
      const [greedy, other] = [await keyWith(service, { max_running: 0 }), await keyWith(service)];
      for (let at = 0; at < 8; at += 1) {
        const urls = Array.from({ length: 16 }, (_, index) => `http://127.0.0.1:${port}/${at}-${index}.png`);
        made.push(await greedy.create({ model: 'gpt-image-2', prompt: 'x', reference_images: urls }));
      }
      await eventually('the first downloads to stall', async () => (await scratchBytes()) >= 4 * 15 * MB);
      let most = 0;
      const sampling = (async () => {
        for (let nth = 0; nth < 30; nth += 1) {
          most = Math.max(most, await scratchBytes());
          await sleep(100);
        }
      })();
      const whole = { ...aFailure, reference_images: [`http://127.0.0.1:${port}/whole.png`] };
      const { body } = await other.create(whole, { prefer: 'wait=20' });
      expect(body.error?.code).toBe('content_policy_violation'); // it reached its provider
      await sampling;
      expect(most).toBeLessThan(400 * MB);
      for (const task of made) await greedy.cancel(task.body.task_id);
      await eventually('the folders to be removed', async () => (await scratchBytes()) === 0);
      const metrics = await service.api.get('/metrics');
      expect(metrics.text).toContain('darkroom_reference_image_bytes_reserved 0');
    } finally {
      await service.close();
      server.closeAllConnections();
      server.close();
    }
  });
});

describe('a storage that is away', () => {
  it('loses no result, and nothing more is generated meanwhile', async () => {
    const service = await startInProcess();
    const storage = service.app.get(Storage);
    const provider = jest.spyOn(SandboxProvider.prototype, 'prepare');
    const put = jest.spyOn(storage, 'put').mockRejectedValue(new Error('The storage is away.'));
    try {
      const first = await service.api.create(aCat);
      await eventually('the first failure', async () => put.mock.calls.length > 0);
      const made = [first];
      for (let at = 0; at < 5; at += 1) made.push(await service.api.create(aCat));
      await sleep(3_000);
      expect(provider).toHaveBeenCalledTimes(1);
      put.mockRestore();
      for (const { body } of made) {
        const { body: task } = await service.api.get<TaskBody>(`/v1/tasks/${body.task_id}?wait=20`);
        expect(task.status).toBe('succeeded');
      }
    } finally {
      jest.restoreAllMocks();
      await service.close();
    }
  });
});

describe('a binding that is full', () => {
  const stub = new OpenaiStub();
  const file = join(process.env.DARKROOM_TEST_FOLDER as string, `providers-${process.pid}.json`);
  let service: InProcess;
  const start = async (workerConcurrency: string, others: object[] = []) => {
    const binding = { provider: 'openai', model: 'gpt-image-2', base_url: stub.baseUrl, credential: 'OPENAI_API_KEY' };
    writeFileSync(file, JSON.stringify({ models: { 'gpt-image-2': [{ ...binding, concurrency: 1 }, ...others] } }));
    const env = { PROVIDERS: file, OPENAI_API_KEY: stub.key, WORKER_CONCURRENCY: workerConcurrency };
    service = await startInProcess(env);
    stub.plan(/./, { delayMs: 20_000 }, { delayMs: 20_000 });
  };
  beforeAll(() => stub.start());
  afterEach(() => service.close());
  afterAll(() => stub.stop());

  const createMany = async (key: Api, count: number, body: object) => {
    const made = [];
    for (let at = 0; at < count; at += 1) made.push((await key.create(body)).body.task_id);
    return made;
  };
  const assertEndsWithinASecond = async (key: Api, model: string) => {
    const startedAt = performance.now();
    const { body } = await key.create({ ...aFailure, model }, { prefer: 'wait=20' });
    expect(body.status).toBe('failed');
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  };

  it('stops no other model: its waiting tasks hold no place', async () => {
    await start('10');
    const made = await createMany(service.api, 20, { model: 'gpt-image-2', prompt: 'x' });
    await sleep(2_000);
    await assertEndsWithinASecond(service.api, 'nano-banana-2');
    for (const id of made) await service.api.cancel(id);
  });

  it('leaves its tasks to the next binding, if that is free', async () => {
    await start('10', [{ provider: 'sandbox', model: 'default' }]);
    const made = await createMany(service.api, 2, { model: 'gpt-image-2', prompt: 'A heron' });
    const served = await Promise.race(made.map((id) => service.api.untilFinal(id)));
    expect(served.status).toBe('succeeded');
    const rows = await queryOnce<{ id: string; provider: string | null }>(
      service.database.url,
      'select id, provider from tasks where id = any($1)',
      [made],
    );
    const other = rows.find(({ id }) => id !== served.task_id);
    expect(other?.provider).toBe('openai'); // and the sandbox, which makes no paid call, served the first to end
    expect(rows.find(({ id }) => id === served.task_id)?.provider).toBeNull();
    await service.api.cancel(other!.id);
  });

  it('and 50 hanging tasks of one key delay neither the image of another key nor another model', async () => {
    await start('50');
    const [greedy, waiting, other] = [
      await keyWith(service, { max_running: 0 }),
      await keyWith(service),
      await keyWith(service),
    ];
    const hanging = await createMany(greedy, 50, { ...aHang, model: 'nano-banana-2' });
    const full = await createMany(waiting, 20, { model: 'gpt-image-2', prompt: 'x' });
    await sleep(2_000);
    await assertEndsWithinASecond(other, 'nano-banana-2');
    await assertEndsWithinASecond(other, 'nano-banana-pro');
    for (const id of hanging) await greedy.cancel(id);
    for (const id of full) await waiting.cancel(id);
  });
});
