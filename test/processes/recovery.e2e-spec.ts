import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { aFailure } from '../support/clients/api.ts';
import { testEnv } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';

const aFilm = { model: 'sora-2', prompt: 'A slow river', resolution: '720P', duration: 3, aspect_ratio: '16:9' };
/** The shortest allowed times; a default lease lasts half a minute. */
const QUICK = { TASK_LEASE_S: '2', TASK_HEARTBEAT_S: '0.5', TASK_SWEEP_S: '0.5' };

describe('a task survives the processes that work on it', () => {
  let database: TestDatabase;
  const running: ServiceProcess[] = [];
  beforeAll(async () => (database = await cloneDatabase()));
  afterEach(async () => {
    for (const service of running.splice(0)) await service.kill('SIGKILL');
  });
  afterAll(() => database.drop());

  const start = async (settings: Record<string, string>) => {
    const { env } = await testEnv(database.url, { ...QUICK, ...settings });
    const service = await spawnService(env);
    running.push(service);
    return { ...service, env };
  };

  it('ends every accepted task after kill -9 of the worker in the middle of a render', async () => {
    const api = await start({ ROLE: 'api' });
    const shared = { BOOTSTRAP_API_KEY: api.env.BOOTSTRAP_API_KEY as string, DATA_DIR: api.env.DATA_DIR as string };
    const worker = await start({ ROLE: 'worker', ...shared });
    const made = await Promise.all([aFilm, aFilm, aFailure, aFailure].map((body) => api.api.create(body)));
    const film = made[0]?.body.task_id as string;
    const before = await api.api.until(film, 'running');
    await worker.kill('SIGKILL');
    expect((await api.api.get(`/v1/tasks/${film}`)).body.status).toBe('running'); // the takeover is not visible

    await start({ ROLE: 'worker', ...shared });
    for (const { body } of made) {
      const ended = await api.api.untilFinal(body.task_id);
      expect(ended.status).toBe(body.kind === 'video' ? 'succeeded' : 'failed');
    }
    expect((await api.api.get(`/v1/tasks/${film}`)).body.started_at).toBe(before.started_at);
  }, 180_000);

  it('releases a running task on SIGTERM, without counting a loss', async () => {
    const first = await start({ TASK_MAX_ATTEMPTS: '1', TASK_LEASE_S: '30' });
    const { body } = await first.api.create(aFilm);
    await first.api.until(body.task_id, 'running');
    const { env } = first;
    await first.kill('SIGTERM');
    const second = await start({
      TASK_MAX_ATTEMPTS: '1',
      TASK_LEASE_S: '30',
      BOOTSTRAP_API_KEY: env.BOOTSTRAP_API_KEY as string,
      DATA_DIR: env.DATA_DIR as string,
    });
    expect((await second.api.untilFinal(body.task_id)).status).toBe('succeeded');
  }, 180_000);

  it('fails a task with worker_lost after too many lost workers', async () => {
    const first = await start({ TASK_MAX_ATTEMPTS: '1' });
    const { body } = await first.api.create({ model: 'gpt-image-2', prompt: '#hang' });
    await first.api.until(body.task_id, 'running');
    const { env } = first;
    await first.kill('SIGKILL');
    const second = await start({
      TASK_MAX_ATTEMPTS: '1',
      BOOTSTRAP_API_KEY: env.BOOTSTRAP_API_KEY as string,
      DATA_DIR: env.DATA_DIR as string,
    });
    const ended = await second.api.untilFinal(body.task_id);
    expect(ended.error?.code).toBe('worker_lost');
  }, 180_000);

  it('ends a hanging task at its deadline, running or queued', async () => {
    const service = await start({ TASK_DEADLINE_IMAGE_S: '1', MAX_RUNNING_PER_KEY: '1' });
    const hang = { model: 'gpt-image-2', prompt: '#hang' };
    const made = [await service.api.create(hang), await service.api.create(hang), await service.api.create(hang)];
    for (const { body } of made) {
      expect((await service.api.untilFinal(body.task_id)).error?.code).toBe('task_deadline_exceeded');
    }
  }, 180_000);

  it('ends every accepted task after kill -9 of the whole service, its embedded database included', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'darkroom-whole-'));
    const { env } = await testEnv('', { ...QUICK, DATA_DIR: dataDir });
    delete env.DATABASE_URL;
    delete env.SECRET_KEY;
    try {
      const first = await spawnService(env);
      running.push(first);
      const made = await Promise.all([aFilm, aFailure, aFailure].map((body) => first.api.create(body)));
      await first.api.until(made[0]?.body.task_id as string, 'running');
      await first.kill('SIGKILL');

      const second = await spawnService(env);
      running.push(second);
      for (const { body } of made) {
        const ended = await second.api.untilFinal(body.task_id);
        expect(ended.status).toBe(body.kind === 'video' ? 'succeeded' : 'failed');
      }
      await second.kill('SIGTERM');
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  }, 240_000);
});
