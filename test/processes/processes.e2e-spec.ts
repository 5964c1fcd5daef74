import { Client } from 'pg';
import { type OwnService, startOwnService } from '../support/service.ts';
import { aCat, type ErrorBody } from '../support/clients/api.ts';
import { spawnService } from '../support/process.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/wait.ts';

interface Row {
  id: string;
  role: string;
  busy: number;
  slots: number;
  draining: boolean;
}

describe('the record of the processes', () => {
  let service: OwnService;
  let database: Client;

  beforeAll(async () => {
    service = await startOwnService({ ROLE: 'api' });
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database.end();
    await service.close();
  });

  const rows = async (role: string) =>
    (await database.query<Row>('select * from processes where role = $1', [role])).rows;

  const spawnWorker = async () => spawnService({ ...service.env, ROLE: 'worker', PORT: String(await freePort()) });

  it('has each process as long as it runs', async () => {
    const api = await eventually('the row of the API', async () => (await rows('api'))[0]);
    expect(api.slots).toBe(0);
    const worker = await spawnWorker();
    const row = await eventually('the row of the worker', async () => (await rows('worker'))[0]);
    expect(row).toMatchObject({ slots: 50, draining: false });
    await worker.kill('SIGTERM');
    expect(await rows('worker')).toEqual([]);
  });

  it('makes a worker drain and resume without the bus', async () => {
    const worker = await spawnWorker();
    const { id } = await eventually('the row of the worker', async () => (await rows('worker'))[0]);
    await database.query('update processes set drain_requested = true where id = $1', [id]);
    await eventually('the worker to drain', async () => (await rows('worker'))[0]?.draining);

    const { body } = await service.api.create(aCat);
    await database.query('update processes set drain_requested = false where id = $1', [id]);
    const before = await service.api.get(`/v1/tasks/${body.task_id}`);
    expect(before.body.status).toBe('queued');
    await service.api.until(body.task_id, 'succeeded');
    expect((await rows('worker'))[0]).toMatchObject({ draining: false });
    await worker.kill('SIGTERM');
  });

  it('forgets a process that was not seen for an hour', async () => {
    await database.query(
      `insert into processes (id, role, version, host, started_at, last_seen_at, slots, busy)
       values ('gone', 'api', '1', 'x', now(), now() - interval '61 minutes', 0, 0),
              ('lost', 'api', '1', 'x', now(), now() - interval '59 minutes', 0, 0)`,
    );
    const worker = await spawnWorker();
    await eventually('the row to go', async () => !(await rows('api')).some(({ id }) => id === 'gone'));
    expect((await rows('api')).map(({ id }) => id)).toContain('lost');
    await worker.kill('SIGTERM');
  });

  interface ProcessBody {
    id: string;
    state: string;
    role: string;
    busy: number;
    drain_requested: boolean;
  }

  const processes = async () =>
    (await service.api.get<{ data: ProcessBody[] }>('/v1/operations/processes')).body.data.filter(
      ({ state }) => state !== 'lost',
    );

  it('drains over the API: what runs ends where it began, and a stop then loses nothing', async () => {
    const worker = await spawnWorker();
    const { id } = await eventually('the worker', async () =>
      (await processes()).find(({ role }) => role === 'worker'),
    );
    const { body: film } = await service.api.create({ model: 'seedance-2', prompt: 'A river', duration: 4 });
    await service.api.until(film.task_id, 'running');

    const drain = await service.api.call<ProcessBody>('POST', `/v1/operations/processes/${id}/drain`);
    expect(drain.status).toBe(200);
    expect(drain.body.drain_requested).toBe(true);
    await eventually('the worker to know', async () => (await rows('worker')).find((row) => row.id === id)?.draining);
    const { body: next } = await service.api.create(aCat);
    await eventually('the worker to be drained', async () => {
      const { body } = await service.api.get<ProcessBody>(`/v1/operations/processes/${id}`);
      return body.state === 'drained' && body.busy === 0;
    });
    await eventually('the audit event of the end', async () => {
      const { body } = await service.api.get<{ data: object[] }>(
        '/v1/operations/audit_events?action=process.drained&target_id=' + id,
      );
      return body.data.length === 1 && (body.data[0] as { actor_type: string }).actor_type === 'service';
    });
    await worker.kill('SIGKILL');
    const { rows: ended } = await database.query('select status, attempt from tasks where id = $1', [film.task_id]);
    expect(ended).toEqual([{ status: 'succeeded', attempt: 1 }]);
    expect((await service.api.get(`/v1/tasks/${next.task_id}`)).body.status).toBe('queued');
    await service.api.cancel(next.task_id);

    const audit = await service.api.get<{ data: object[] }>(
      '/v1/operations/audit_events?action=process.drain_requested',
    );
    expect(audit.body.data).toMatchObject([
      { target_type: 'process', target_id: id, before: { drain_requested: false }, after: { drain_requested: true } },
    ]);
    await database.query('delete from processes where id = $1', [id]);
  });

  it('resumes over the API, at once', async () => {
    const worker = await spawnWorker();
    const { id } = await eventually('the worker', async () =>
      (await processes()).find(({ role }) => role === 'worker'),
    );
    const path = `/v1/operations/processes/${id}`;
    await service.api.call('POST', `${path}/drain`);
    await eventually('drained', async () => (await service.api.get<ProcessBody>(path)).body.state === 'drained');
    await service.api.call('POST', `${path}/resume`);
    await eventually('live', async () => (await service.api.get<ProcessBody>(path)).body.state === 'live');
    const { body } = await service.api.create(aCat);
    await service.api.until(body.task_id, 'succeeded');
    await worker.kill('SIGTERM');
  });

  it('refuses to drain a process without a worker, and one that is not there', async () => {
    const { id } = await eventually('the API', async () => (await processes()).find(({ role }) => role === 'api'));
    const api = await service.api.call<ErrorBody>('POST', `/v1/operations/processes/${id}/drain`);
    expect([api.status, api.body.error.code, api.body.error.param]).toEqual([400, 'invalid_value', 'id']);
    for (const unknown of ['unknown', 'a%00b', 'x'.repeat(400)]) {
      const none = await service.api.call<ErrorBody>('POST', `/v1/operations/processes/${unknown}/drain`);
      expect([none.status, none.body.error.code]).toEqual([404, 'process_not_found']);
    }
    expect(await processes()).toMatchObject([{ state: 'live', drain_requested: false }]);
  });
});
