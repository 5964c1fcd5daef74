// In-process: the storage refuses to delete some folders.
import { Client } from 'pg';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskStorage } from '../../../src/platform/storage/disk.storage.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { startInProcess, type InProcess } from '../../support/in-process.ts';
import { eventually } from '../../support/wait.ts';

const TASKS = 600;
const idOf = (nth: number) => `task_${String(nth).padStart(26, '0')}`;

describe('retention', () => {
  let worker: InProcess;
  let cloned: TestDatabase;
  let database: Client;
  const dataDir = mkdtempSync(join(tmpdir(), 'darkroom-retention-'));
  const { deleteAll } = DiskStorage.prototype;

  beforeAll(async () => {
    cloned = await cloneDatabase();
    database = new Client({ connectionString: cloned.url });
    await database.connect();
    await database.query(
      `insert into tasks (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, files_expire_at)
       select 'task_' || lpad(nth::text, 26, '0'), 'key_1', 'image', 'gpt-image-2', 'succeeded', '{}', now(), now(), now(),
              case when nth <= $1 / 2 then now() + interval '1 day' else now() - interval '1 day' end,
              now() - interval '2 days' + make_interval(secs => nth)
       from generate_series(1, $1::int) as nth`,
      [TASKS],
    );
    await database.query(
      `insert into idempotency_keys (api_key_id, key, request_hash, task_id, response, expires_at)
       select 'key_1', nth::text, '', 'task_1', '', now() - interval '1 s' from generate_series(1, 12000) as nth`,
    );
    await database.query(
      `insert into key_load (api_key_id, queued, running) values ('key_gone', 0, 0), ('key_busy', 1, 0), ('key_1', 0, 0)`,
    );
    await database.query(
      `insert into rate_windows (api_key_id, bucket, ends_at, taken)
       values ('key_gone', 'read', now() - interval '1 hour', 1), ('key_busy', 'read', now() + interval '1 minute', 1)`,
    );
  });
  afterAll(async () => {
    DiskStorage.prototype.deleteAll = deleteAll;
    await database.end();
    await worker.close();
    await cloned.drop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const count = async (query: string) => Number((await database.query(`select count(*) from ${query}`)).rows[0].count);

  it('passes over a task whose files cannot be deleted, reports it, and deletes everything else', async () => {
    const folder = join(dataDir, 'files', idOf(2));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, '1-0.png'), 'a picture');
    DiskStorage.prototype.deleteAll = async function (this: DiskStorage, prefix) {
      if (prefix === `${idOf(1)}/` || prefix === `${idOf(TASKS)}/`) throw new Error('The folder is read-only.');
      await deleteAll.call(this, prefix);
    };
    worker = await startInProcess({ ROLE: 'worker', DATA_DIR: dataDir }, cloned);
    await eventually('the files to be purged', async () => (await count('tasks where not files_purged')) === 2);
    await eventually('the tasks to be deleted', async () => (await count('tasks')) === TASKS / 2 + 1);
    await eventually('the idempotency keys to be deleted', async () => (await count('idempotency_keys')) === 0);
    const kept = async (table: string) =>
      (await database.query(`select api_key_id from ${table} where api_key_id ~ '^key_(gone|busy|1)$' order by 1`))
        .rows;
    await eventually('idle counters to be deleted', async () => (await kept('key_load')).length === 2);
    expect(await kept('key_load')).toEqual([{ api_key_id: 'key_1' }, { api_key_id: 'key_busy' }]);
    await eventually('ended rate windows to be deleted', async () => (await kept('rate_windows')).length === 1);
    expect(await kept('rate_windows')).toEqual([{ api_key_id: 'key_busy' }]);
    expect(existsSync(folder)).toBe(false);
    await eventually('the metric', async () => {
      const metrics = await (await fetch(`${worker.baseUrl}/metrics`)).text();
      return Number(/^darkroom_purge_lag_seconds\{what="files"\} (\S+)$/m.exec(metrics)?.[1]) > 86_400;
    });
  });
});
