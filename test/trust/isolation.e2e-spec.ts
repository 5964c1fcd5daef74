import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { Client } from 'pg';
import { Storage } from '../../src/platform/storage/storage.ts';
import { SandboxProvider } from '../../src/providers/sandbox/sandbox.provider.ts';
import { aCat, aFailure, aHang, Api, type TaskBody } from '../support/clients/api.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/wait.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';

async function keyWith(service: TestApp, limits: object = {}): Promise<Api> {
  const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'k', limits });
  return new Api(service.baseUrl, body.key);
}

describe('one key', () => {
  let service: TestApp;
  beforeAll(async () => (service = await startApp({ WORKER_CONCURRENCY: '50' })));
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
  }, 60_000);

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
  }, 120_000);
});

describe('reference images', () => {
  it('take little memory, however large they are and however slowly they arrive', async () => {
    const piece = Buffer.alloc(18 * 2 ** 20, 1);
    const server = createServer((_request, response) => void response.write(piece)).listen(0, '127.0.0.1'); // never ends
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const service = await startApp({ WORKER_CONCURRENCY: '50' });
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
  }, 60_000);
});

describe('a storage that is away', () => {
  it('loses no result, and nothing more is generated meanwhile', async () => {
    const service = await startApp();
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
  }, 60_000);
});

describe('a binding that is full', () => {
  it('stops no other model: its waiting tasks hold no place', async () => {
    const stub = new OpenaiStub();
    await stub.start();
    const folder = process.env.DARKROOM_TEST_FOLDER as string;
    const file = join(folder, `providers-${process.pid}.json`);
    const openai = {
      provider: 'openai',
      model: 'gpt-image-2',
      base_url: stub.baseUrl,
      credential: 'OPENAI_API_KEY',
    };
    writeFileSync(file, JSON.stringify({ models: { 'gpt-image-2': [{ ...openai, concurrency: 1 }] } }));
    const service = await startApp({ PROVIDERS: file, OPENAI_API_KEY: stub.key, WORKER_CONCURRENCY: '10' });
    try {
      stub.plan(/./, { delayMs: 20_000 }, { delayMs: 20_000 });
      const made = [];
      for (let at = 0; at < 20; at += 1) made.push(await service.api.create({ model: 'gpt-image-2', prompt: 'x' }));
      await sleep(2_000);
      const startedAt = performance.now();
      const { body } = await service.api.create({ ...aFailure, model: 'nano-banana-2' }, { prefer: 'wait=20' });
      expect(body.status).toBe('failed');
      expect(performance.now() - startedAt).toBeLessThan(1_000);
      for (const task of made) await service.api.cancel(task.body.task_id);
    } finally {
      await service.close();
      await stub.stop();
    }
  }, 90_000);
});
