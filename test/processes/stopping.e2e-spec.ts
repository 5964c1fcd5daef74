import { setTimeout as sleep } from 'node:timers/promises';
import { aCat, aHang } from '../support/clients/api.ts';
import { startOwnService } from '../support/service.ts';
import { testEnv } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

describe('stopping', () => {
  let database: TestDatabase;
  let running: ServiceProcess;
  const start = async (settings: Record<string, string>) => {
    database = await cloneDatabase();
    const { env } = await testEnv(database.url, settings);
    running = await spawnService(env);
  };
  const ended = () => eventually('the process to end', async () => running.child.exitCode !== null, 20_000);
  const statusOf = async (path: string) => (await fetch(`${running.api.baseUrl}${path}`)).status;
  afterEach(async () => {
    await running.kill('SIGKILL');
    await database.drop();
  });

  it('answers open waits at once and ends', async () => {
    await start({ SHUTDOWN_GRACE_S: '1' });
    const { body } = await running.api.create(aHang);
    const waits = Array.from({ length: 100 }, () => running.api.get(`/v1/tasks/${body.task_id}?wait=60`));
    const creation = running.api.create(aHang, { prefer: 'wait=60' });
    await sleep(1_000);
    const startedAt = performance.now();
    running.child.kill('SIGTERM');
    for (const { status } of await Promise.all(waits)) expect(status).toBe(200);
    expect((await creation).status).toBe(201);
    await ended();
    expect(performance.now() - startedAt).toBeLessThan(4_000); // 3 s and the grace
  });

  it('takes the signal of a process manager, which npm repeats, for one, and ends at once at a later one', async () => {
    await start({ SHUTDOWN_GRACE_S: '1', SHUTDOWN_DELAY_S: '20' });
    running.child.kill('SIGTERM');
    await sleep(100);
    running.child.kill('SIGTERM');
    await sleep(1_500);
    expect(running.child.exitCode).toBeNull();
    expect(await statusOf('/readyz?of=process')).toBe(503);
    running.child.kill('SIGTERM');
    await ended();
    expect(running.child.exitCode).toBe(1);
  });

  it('starts no task while it drains, and another process takes it', async () => {
    await start({ SHUTDOWN_GRACE_S: '1', SHUTDOWN_DELAY_S: '6' });
    running.child.kill('SIGTERM');
    await eventually('readyz to say no', async () => (await statusOf('/readyz?of=process')) === 503, 5_000);
    const { body } = await running.api.create(aCat);
    await sleep(2_000); // four polls of the queue
    const waiting = await running.api.get<{ status: string }>(`/v1/tasks/${body.task_id}`);
    expect([waiting.status, waiting.body.status]).toEqual([200, 'queued']);
    const other = await startOwnService({ BOOTSTRAP_API_KEY: running.api.key! }, database);
    try {
      await eventually('the task to end', async () => {
        return (await other.api.get<{ status: string }>(`/v1/tasks/${body.task_id}`)).body.status === 'succeeded';
      });
    } finally {
      await other.close();
    }
  });

  it.each(['all', 'api'])(
    'turns /readyz to 503 at the signal, and serves until SHUTDOWN_DELAY_S is over (ROLE=%s)',
    async (role) => {
      await start({ SHUTDOWN_GRACE_S: '1', SHUTDOWN_DELAY_S: '4', ROLE: role });
      expect(await statusOf('/readyz')).toBe(200);
      running.child.kill('SIGTERM');
      const signalledAt = performance.now();
      await eventually('readyz to say no', async () => (await statusOf('/readyz')) === 503, 2_000);
      expect(await statusOf('/healthz')).toBe(200);
      await sleep(Math.max(0, 2_000 - (performance.now() - signalledAt)));
      expect(await statusOf('/readyz')).toBe(503);
      expect((await running.api.get('/v1/models')).status).toBe(200);
      expect((await running.api.create(aHang)).status).toBe(201);
      await ended();
      expect(performance.now() - signalledAt).toBeGreaterThan(3_900);
    },
  );
});
