import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDataDir } from '../../src/platform/database/embedded/embedded-cluster.ts';
import { startEmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.ts';
import { aFailure, aHang } from '../support/clients/api.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { makeTestFolder, removeTestFolder } from '../support/test-context.ts';
import { testEnv } from '../support/test-env.ts';

const aFilm = { model: 'sora-2', prompt: 'A slow river', resolution: '720P', duration: 3, aspect_ratio: '16:9' };
const ATTEMPTS = 10; // a slow machine loses a lease now and then
/** The shortest allowed times; a default lease lasts half a minute. */
const QUICK = { TASK_LEASE_S: '2', TASK_HEARTBEAT_S: '0.5', TASK_SWEEP_S: '0.5', TASK_MAX_ATTEMPTS: String(ATTEMPTS) };

describe('kill -9 of the whole service, its embedded database included', () => {
  const folder = makeTestFolder();
  const dataDir = join(folder, 'data');
  let service: ServiceProcess;
  afterAll(async () => {
    await service?.kill('SIGTERM');
    await removeTestFolder(folder);
  });

  it('ends every accepted task, and fails one that has lost too many workers', async () => {
    createDataDir(dataDir);
    const { DATABASE_URL: _, SECRET_KEY: __, ...env } = (await testEnv('', { ...QUICK, DATA_DIR: dataDir })).env;
    service = await spawnService(env);
    const { api } = service;
    const [film, ...failures] = await Promise.all([aFilm, aFailure, aFailure].map((body) => api.create(body)));
    const lost = (await api.create(aHang)).body.task_id;
    const before = await api.until(film!.body.task_id, 'running');
    await api.until(lost, 'running');
    const { url, leave } = await startEmbeddedPostgres(dataDir); // joins it
    await queryOnce(url, 'update tasks_live set losses = $2 where id = $1', [lost, ATTEMPTS - 1]);
    await leave();
    const postmaster = Number(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
    await service.kill('SIGKILL');
    process.kill(postmaster, 'SIGKILL');

    service = await spawnService(env);
    const ended = await service.api.untilFinal(film!.body.task_id);
    // The takeover is not visible.
    expect([ended.error, ended.status, ended.started_at]).toEqual([undefined, 'succeeded', before.started_at]);
    for (const { body } of failures) expect((await service.api.untilFinal(body.task_id)).status).toBe('failed');
    expect((await service.api.untilFinal(lost)).error?.code).toBe('worker_lost');
  });
});
