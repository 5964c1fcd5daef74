import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { dropExpired, type SweptTables } from '../../src/platform/database/partitions/partition-rows.ts';
import { PartitionSweep } from '../../src/platform/database/partitions/partition-sweep.ts';
import { readPartitions } from '../../src/platform/database/partitions/read-partitions.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { DAY_MS, idBoundAt, timeOfId } from '../../src/platform/schema/time.ts';
import { Storage } from '../../src/platform/storage/storage.ts';
import { Purge } from '../../src/tasks/queue/purge.ts';
import { PurgeRows } from '../../src/tasks/sql/purge-rows.ts';
import { newTaskId } from '../../src/tasks/record/task-id.ts';
import { aCat, type TaskBody } from '../support/clients/api.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { eventually } from '../support/wait.ts';

const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS;
/** Days that are not past their retention. */
const OTHERS = Array.from({ length: 20 }, (_, at) => at + 10);
/** Days after which a task of these tests has expired. */
const RETENTION = 20;
const WORKER = { TASK_RETENTION_DAYS: String(RETENTION), FILE_RETENTION_DAYS: '1', TASK_PARTITION_DAYS: '1' };

describe('partitions of tasks', () => {
  let api: InProcess;
  let worker: InProcess;
  let database: Client;
  /** A task that left a file. */
  let failed: string;

  beforeAll(async () => {
    api = await startInProcess({ ...WORKER, ROLE: 'api' });
    database = new Client({ connectionString: api.database.url });
    await database.connect();
    await makeDays();
    // As the last sweep has left it: otherwise the first purge may run before the first sweep, and delete single rows.
    await database.query(`insert into partitioned_tables values ('tasks', '${idBoundAt(TODAY - 20 * DAY_MS)}')`);
    await addTask(0, { batch_id: 'batch_1', batch_index: 2, status: 'running', completed_at: null, lease_until: new Date(Date.now() + DAY_MS), deadline_at: new Date(Date.now() + DAY_MS) }); // prettier-ignore
    await addTask(1, { expires_at: new Date(Date.now() + DAY_MS) });
    const justExpired = new Date(Date.now() - 1000);
    await addTask(2, { files_purged: false, files_expire_at: new Date(Date.now() + DAY_MS), expires_at: justExpired });
    await addTask(3, { batch_id: 'batch_1', batch_index: 1, expires_at: justExpired });
    await database.query(
      `insert into batches (id, api_key_id, endpoint, metadata, total, created_at, kept_until) values ('batch_1', 'key_1', '/', '{}', 2, now(), now() + interval '1 day')`,
    );
    await addTask(4);
    failed = await addTask(5, { status: 'failed', error: '{"code":"internal_error"}', files_purged: false });
    await api.app.get(Storage).put(`${failed}/1-0.png`, Buffer.from('a picture'), 'image/png');
    await addTask(6);
    await database.query('create view reads_a_partition as select id from tasks_day_6');
    await addTask(12); // its day has begun to expire
    await addTask(15);
  });
  afterAll(async () => {
    await worker?.close();
    await database.end();
    await api.close();
  });

  const names = async () => (await readPartitions(database, 'tasks')).map(({ name }) => name);
  const sweep = () => (worker.app.get(PartitionSweep) as unknown as { interval: { runNow(): Promise<void> } }).interval.runNow(); // prettier-ignore
  const purge = () => (worker.app.get(Purge) as unknown as { intervals: { runNow(): Promise<void> }[] }).intervals[0]!.runNow(); // prettier-ignore
  const untilDaysAre = async (days: number[]) => {
    const wanted = days.map((day) => `tasks_day_${day}`);
    let left: string[] = [];
    for (let tries = 0; tries < 60 && left.join() !== wanted.join(); tries += 1) {
      await purge();
      await sweep();
      left = (await names()).filter((name) => name.startsWith('tasks_day_'));
    }
    expect(left).toEqual(wanted);
  };
  const count = async (query: string) => Number((await database.query(`select count(*) from ${query}`)).rows[0].count);

  /** Replaces all partitions by one for each of the last 30 days; there is none for today. */
  const makeDays = async () => {
    const days = Array.from({ length: 30 }, (_, at) => TODAY - (30 - at) * DAY_MS);
    const made = days.map(
      (day, at) =>
        `create table tasks_day_${at} partition of tasks for values from ('${idBoundAt(day)}') to ('${idBoundAt(day + DAY_MS)}')`,
    );
    await database.query(`alter table tasks detach partition tasks_first; drop table tasks_first; ${made.join(';')}`);
  };

  /** A final task of the middle of that day, which expires as the retention says. */
  const addTask = async (day: number, columns: Record<string, unknown> = {}): Promise<string> => {
    const ms = TODAY - (30 - day) * DAY_MS + DAY_MS / 2;
    const [created, expires] = [new Date(ms), new Date(ms + RETENTION * DAY_MS)];
    const row = { id: newTaskId(ms), api_key_id: 'key_1', kind: 'image', model: 'm', status: 'succeeded', input: '{}', attempt: 1, created_at: created, completed_at: created, deadline_at: created, expires_at: expires, files_purged: true, ...columns }; // prettier-ignore
    const keys = Object.keys(row);
    await database.query(
      `insert into tasks (${keys.join(', ')}) values (${keys.map((_, at) => `$${at + 1}`).join(', ')})`,
      Object.values(row),
    );
    return row.id;
  };

  it('a creation that belongs to no partition succeeds, and is read, claimed and listed', async () => {
    const { status, body } = await api.api.create(aCat);
    expect(status).toBe(201);
    worker = await startInProcess({ ...WORKER, ROLE: 'worker', DATA_DIR: api.env.DATA_DIR! }, api.database);
    await api.api.until(body.task_id, 'succeeded');
    expect(await count('tasks_rest')).toBe(1);
    expect((await api.api.get<{ data: TaskBody[] }>('/v1/tasks')).body.data.map(({ task_id }) => task_id)).toEqual([
      body.task_id,
    ]);
  });

  it('a worker makes those of the days to come, from the first day that is free', async () => {
    const ahead = async () => (await readPartitions(database, 'tasks')).filter(({ from }) => timeOfId(from) >= TODAY);
    await eventually('partitions', async () => (await ahead()).length > 0);
    const made = await ahead();
    expect(timeOfId(made[0]!.from)).toBe(TODAY + DAY_MS); // today has a task elsewhere
    expect(timeOfId(made.at(-1)!.to)).toBeGreaterThan(Date.now() + 7 * DAY_MS);
    made.forEach(({ from }, at) => at > 0 && expect(from).toBe(made[at - 1]!.to));
    const { rows } = await database.query(
      'select array_to_string(reloptions, $1) as options from pg_class where oid = $2::regclass',
      [',', made[0]!.name],
    );
    expect(rows).toEqual([{ options: null }]); // those of this test have no fill factor either
    const indexes = (table: string) => count(`pg_index where indrelid = '${table}'::regclass`);
    expect(await indexes(made[0]!.name)).toBe(await indexes('tasks_rest'));
    const before = await ahead();
    const other = await startInProcess({ ...WORKER, ROLE: 'worker', DATA_DIR: api.env.DATA_DIR! }, api.database);
    await Promise.all([sweep(), sweep(), sweep()]);
    await other.close();
    expect(await ahead()).toEqual(before);
  });

  it('a clock that was years ahead for a while keeps nobody from making the next ones', async () => {
    const ahead = async () => (await readPartitions(database, 'tasks')).filter(({ to }) => timeOfId(to) > Date.now());
    const before = await ahead();
    const lost = before.at(-1)!;
    await database.query(
      `drop table ${lost.name};
       create table tasks_far partition of tasks for values from ('${idBoundAt(TODAY + 1000 * DAY_MS)}') to ('${idBoundAt(TODAY + 1001 * DAY_MS)}')`,
    );
    await eventually('the partition that is missing', async () => {
      await sweep();
      return (await names()).includes(lost.name);
    });
    expect((await ahead()).filter(({ name }) => name !== 'tasks_far')).toEqual(before);
    await database.query('drop table tasks_far');
  });

  it('one that cannot be dropped keeps no other, and what has expired in it is deleted nevertheless', async () => {
    await eventually('the drop of another', async () => !(await names()).includes('tasks_day_7'));
    await sweep();
    expect(await names()).toContain('tasks_day_6');
    await eventually('the purge', async () => {
      await purge();
      return (await count('tasks_day_6')) === 0;
    });
    await database.query('drop view reads_a_partition');
  });

  it('drops what is past every retention, with the files of failed tasks, and keeps what is unfinished, visible, has files or belongs to an unfinished batch', async () => {
    const kept = [0, 1, 2, 3, ...OTHERS];
    await untilDaysAre(kept);
    await expect(api.app.get(Storage).size(`${failed}/1-0.png`)).rejects.toThrow();
    await sleep(300);
    await untilDaysAre(kept);
    await database.query(
      `update tasks set completed_at = now(), status = 'failed', lease_until = null where status = 'running'`,
    );
    await eventually('the batch', async () => (await count('batches where ended_at is not null')) === 1);
    await untilDaysAre([1, 2, ...OTHERS]);
  });

  it('leaves expired rows to the drop of their partition, and deletes single ones of younger ones', async () => {
    const [old, short, inRest] = [
      await addTask(10, { expires_at: new Date(Date.now() - 1000) }),
      await addTask(20, { expires_at: new Date(Date.now() - 1000) }),
      await addTask(-3),
    ];
    await sweep();
    const taken = async () => (await worker.app.get(PurgeRows).takeExpired()).map(({ id }) => id);
    const first = await taken();
    expect(first).toContain(short);
    expect(first).not.toContain(old);
    await worker.app.get(PurgeRows).delete(first);
    expect(await taken()).toEqual([inRest]);
  });

  it('deletes a task at the wish of its owner although its partition is dropped soon', async () => {
    const owner = (await database.query(`select api_key_id from tasks_rest where model = 'gpt-image-2'`)).rows[0]
      .api_key_id;
    const id = await addTask(10, { api_key_id: owner, expires_at: new Date(Date.now() + DAY_MS) });
    expect((await api.api.call('DELETE', `/v1/tasks/${id}`)).status).toBe(200);
    const taken = await worker.app.get(PurgeRows).takeWithFiles();
    expect(taken.find((task) => task.id === id)).toEqual({ id, files_purged: false, is_expired: true });
  });

  it('drops a partition under load: no request takes 100 ms longer for it', async () => {
    const slower: number[] = [];
    for (const day of [11, 12, 13]) {
      const bound = idBoundAt(TODAY - (30 - day) * DAY_MS);
      await database.query(
        `insert into tasks (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, files_purged)
         select $1 || lpad(n::text, 16, '0'), 'key_2', 'image', 'm', 'succeeded', '{}', now(), now(), now(), now() - interval '1 s', true
         from generate_series(1, 30000) n`,
        [bound],
      );
      await database.query(`update tasks set expires_at = now() - interval '1 s' where id >= $1 and id < $2`, [
        bound,
        idBoundAt(TODAY - (29 - day) * DAY_MS),
      ]);
      const over = new AbortController();
      let longestMs = 0;
      const timed = async <Answer>(request: Promise<Answer>): Promise<Answer> => {
        const begunMs = performance.now();
        const answer = await request;
        longestMs = Math.max(longestMs, performance.now() - begunMs);
        return answer;
      };
      const client = async () => {
        while (!over.signal.aborted) {
          const { status, body } = await timed(api.api.create(aCat));
          const read = await timed(api.api.get(`/v1/tasks/${body.task_id}`));
          expect([status, read.status]).toEqual([201, 200]);
        }
      };
      const clients = [client(), client()];
      await sleep(2_000);
      const usualMs = longestMs;
      longestMs = 0;
      const { registered } = worker.app.get(PartitionSweep) as unknown as { registered: SweptTables[] };
      const tables = registered.find(({ prefix }) => prefix === 'task')!;
      const partition = (await readPartitions(database, 'tasks')).find(({ name }) => name === `tasks_day_${day}`)!;
      const result = await dropSoon(() => dropExpired(worker.app.get(Sql), tables, partition));
      await sleep(200);
      over.abort();
      await Promise.all(clients);
      expect(result).toBe('dropped');
      slower.push(longestMs - usualMs);
      if (slower.at(-1)! < 100) break; // a machine that is busy with other things slows some of the rounds
    }
    expect(Math.min(...slower)).toBeLessThan(100);
  });
});

/** Under load a lock may be taken for longer than the drop waits for it. */
async function dropSoon(drop: () => Promise<string>): Promise<string> {
  for (let tries = 0; tries < 300; tries += 1) {
    const result = await drop();
    if (result !== 'in_use') return result;
    await sleep(100);
  }
  return 'in_use';
}
