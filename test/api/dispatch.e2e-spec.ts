import { Client } from 'pg';
import { loadConfig } from '../../src/platform/config/config.ts';
import { type Service, startService } from '../../src/service.ts';
import { newTaskId } from '../../src/tasks/record/task-id.ts';
import { aFailure, aHang, type TaskBody } from '../support/clients/api.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/wait.ts';

/** For one API key: a worker of four places reserves one for other keys. */
const PLACES = 3;

describe('waiting tasks', () => {
  let api: OwnService;
  const workers: Service[] = [];
  let database: Client;

  beforeAll(async () => {
    api = await startOwnService({ ROLE: 'api', WORKER_CONCURRENCY: String(PLACES + 1), MAX_RUNNING_PER_KEY: '0' });
    database = new Client({ connectionString: api.database.url });
    await database.connect();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    await database.query(
      `update tasks set status = 'failed', lease_until = null where status in ('queued', 'running')`,
    );
    await database.query('update key_load set queued = 0, running = 0');
  });
  afterAll(async () => {
    await database.end();
    await api.close();
  });

  const work = async () => {
    const worker = await startService(loadConfig({ ...api.env, ROLE: 'worker', PORT: String(await freePort()) }));
    workers.push(worker);
    return worker;
  };
  const create = async (amount: number, body: object) =>
    Promise.all(Array.from({ length: amount }, async () => (await api.api.create(body)).body.task_id));
  const running = async () => {
    const { rows } = await database.query<{ worker_id: string }>(
      `select worker_id from tasks where status = 'running'`,
    );
    return rows.map(({ worker_id: worker }) => worker);
  };

  it('are claimed by a worker up to its concurrency, and then by the next worker', async () => {
    const ids = await create(2 * PLACES + 2, aHang);
    await work();
    await eventually('all places to be used', async () => (await running()).length === PLACES);
    // Both workers run in this process and share its worker id, so only the number of running tasks shows the second.
    await work();
    await eventually('the next places', async () => (await running()).length === 2 * PLACES);
    for (let poll = 0; poll < 30; poll += 1) expect((await running()).length).toBeLessThanOrEqual(2 * PLACES);
    await api.api.cancel(ids.at(0) as string);
    await api.api.cancel(ids.at(-1) as string);
    await eventually('the free place to be used again', async () => (await running()).length === 2 * PLACES);
  });

  it('are each claimed once, however many workers poll', async () => {
    await work();
    await work();
    const ids = await create(60, aFailure);
    for (const id of ids) await api.api.untilFinal(id);
    const { rows } = await database.query(
      'select attempt, count(*)::int as tasks from tasks where id = any($1) group by 1',
      [ids],
    );
    expect(rows).toEqual([{ attempt: 1, tasks: 60 }]);
  });

  it('are started at once in another process by the wake signal, not by its next poll', async () => {
    await work();
    const waits: number[] = [];
    for (let nth = 0; nth < 15; nth += 1) {
      const { body } = await api.api.create<TaskBody>(aFailure, { prefer: 'wait=20' });
      const { rows } = await database.query<{ ms: number }>(
        `select extract(epoch from started_at - created_at)::float8 * 1000 as ms from tasks where id = $1`,
        [body.task_id],
      );
      waits.push(rows[0]!.ms);
    }
    expect(waits.toSorted((a, b) => a - b)[7]).toBeLessThan(200); // about 5 ms on an idle machine; a worker polls every 500 ms
  });

  it('are found although the wake signal was lost, and so are the tasks of a dead worker', async () => {
    await work();
    const [unsignalled, abandoned] = [newTaskId(), newTaskId()];
    await database.query(
      `insert into tasks (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, attempt, lease_until)
       select id, (select api_key_id from key_load limit 1), 'image', 'gpt-image-2', status, $3, now(),
              now() + interval '1 hour', now() + interval '1 hour', attempt, lease
         from (values ($1, 'queued', 0, null), ($2, 'running', 1, now() - interval '1 s')) as v (id, status, attempt, lease)`,
      [unsignalled, abandoned, aFailure],
    );
    await api.api.untilFinal(unsignalled);
    await api.api.untilFinal(abandoned);
    const { rows } = await database.query('select attempt, losses from tasks where id = any($1) order by attempt', [
      [unsignalled, abandoned],
    ]);
    expect(rows).toEqual([
      { attempt: 1, losses: 0 },
      { attempt: 2, losses: 1 },
    ]);
  });

  it('stay queued when the worker stops, and running tasks are released', async () => {
    const worker = await work();
    const ids = await create(PLACES + 2, aHang);
    await eventually('all places to be used', async () => (await running()).length === PLACES);
    await worker.stop();
    const { rows } = await database.query<{ status: string; lapsed: boolean | null }>(
      'select status, lease_until < now() as lapsed from tasks where id = any($1) order by status',
      [ids],
    );
    expect(rows.filter(({ status }) => status === 'queued')).toHaveLength(2);
    expect(rows.filter(({ status, lapsed }) => status === 'running' && lapsed)).toHaveLength(PLACES);
  });
});
