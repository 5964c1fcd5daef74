import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SharedService, joinService } from '../../support/service.ts';
import { testEnv } from '../../support/test-env.ts';
import { aCat, type ErrorBody } from '../../support/clients/api.ts';
import { cloneDatabase } from '../../support/database.ts';
import { spawnService } from '../../support/process.ts';
import { eventually } from '../../support/wait.ts';

describe('a file that is lost before its retention ends', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it('is an error of the service, not an expiry', async () => {
    const { body } = await service.api.create(aCat);
    const task = await service.api.untilFinal(body.task_id);
    rmSync(join(service.env.DATA_DIR as string, 'files', body.task_id), { recursive: true }); // other tests have files beside it
    const url = task.result?.outputs[0]?.url as string;
    const answer = await fetch(url);
    const { error } = (await answer.json()) as ErrorBody;
    expect([answer.status, error.code]).toEqual([500, 'internal_error']);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([500, 'application/json; charset=utf-8']);
  });
});

describe('a start with another storage', () => {
  it('is a warning, and with the same storage it is none', async () => {
    const database = await cloneDatabase();
    const { env, dataDir } = await testEnv(database.url, { LOG_LEVEL: 'warn' });
    const elsewhere = mkdtempSync(join(tmpdir(), 'darkroom-elsewhere-'));
    try {
      const outputs: string[] = [];
      for (const folder of [dataDir, dataDir, elsewhere]) {
        const running = await spawnService({ ...env, DATA_DIR: folder });
        try {
          if (folder === elsewhere) {
            await eventually('the warning', async () => running.output().includes('storage.changed'));
          }
        } finally {
          await running.kill('SIGTERM');
        }
        outputs.push(running.output());
      }
      expect(outputs.map((output) => output.includes('storage.changed'))).toEqual([false, false, true]);
    } finally {
      await database.drop();
      for (const folder of [dataDir, elsewhere]) rmSync(folder, { recursive: true, force: true });
    }
  });
});
