import { Client } from 'pg';
import { type OwnService, startOwnService } from '../support/service.ts';
import { aCat, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { freePort } from '../support/free-port.ts';
import { busyness, eventually } from '../support/wait.ts';

interface Row {
  id: string;
  role: string;
  busy: number;
  slots: number;
  draining: boolean;
}

interface Levels {
  log_level: string | null;
  log_levels: Record<string, string>;
  changed_at: number | null;
  changed_by: string | null;
}

const LOG_LEVELS = '/v1/operations/log_levels';

/** How often the process has said that its log levels have changed. */
const changes = (output: string) => output.split('"event":"log_levels.changed"').length - 1;

let service: OwnService;
let worker: ServiceProcess;
let database: Client;

const spawnWorker = async () => spawnService({ ...service.env, ROLE: 'worker', PORT: String(await freePort()) });

beforeAll(async () => {
  service = await startOwnService({ ROLE: 'api', LOG_LEVEL: 'info', LOG_LEVELS: 'requests=silent' });
  worker = await spawnWorker();
  database = new Client({ connectionString: service.database.url });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await worker?.kill('SIGKILL');
  await service?.close();
});

describe('the record of the processes', () => {
  const rows = async (role: string) =>
    (await database.query<Row>('select * from processes where role = $1', [role])).rows;

  it('has each process as long as it runs, and one that was lost for an hour', async () => {
    const api = await eventually('the row of the API', async () => (await rows('api'))[0]);
    expect(api.slots).toBe(0);
    const first = await eventually('the row of the worker', async () => (await rows('worker'))[0]);
    expect(first).toMatchObject({ slots: 50, draining: false });
    await database.query(
      `insert into processes (id, role, version, host, started_at, last_seen_at, slots, busy)
       values ('gone', 'api', '1', 'x', now(), now() - interval '61 minutes', 0, 0),
              ('lost', 'api', '1', 'x', now(), now() - interval '45 minutes', 0, 0)`,
    );
    const other = await spawnWorker();
    await eventually('the row of the other worker', async () => (await rows('worker')).length === 2);
    await other.kill('SIGTERM');
    expect((await rows('worker')).map(({ id }) => id)).toEqual([first.id]);
    const ids = async () => (await rows('api')).map(({ id }) => id);
    await eventually('the row to go that was not seen for an hour', async () => !(await ids()).includes('gone'));
    expect(await ids()).toContain('lost');
  });

  it('makes a worker drain and resume without the bus', async () => {
    const [row] = await rows('worker');
    await database.query('update processes set drain_requested = true where id = $1', [row!.id]);
    await eventually('the worker to drain', async () => (await rows('worker'))[0]?.draining);

    const { body } = await service.api.create(aCat);
    const before = await service.api.get(`/v1/tasks/${body.task_id}`);
    expect(before.body.status).toBe('queued');
    await database.query('update processes set drain_requested = false where id = $1', [row!.id]);
    await service.api.until(body.task_id, 'succeeded');
    expect((await rows('worker'))[0]).toMatchObject({ draining: false });
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

  it('resumes over the API, at once', async () => {
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
  });

  it('refuses to drain a process without a worker, and one that is not there', async () => {
    const { id } = await eventually('the API', async () => (await processes()).find(({ role }) => role === 'api'));
    const api = await service.api.call<ErrorBody>('POST', `/v1/operations/processes/${id}/drain`);
    expect([api.status, api.body.error.code, api.body.error.param]).toEqual([400, 'invalid_value', 'id']);
    for (const unknown of ['unknown', 'a%00b', 'x'.repeat(400)]) {
      const none = await service.api.call<ErrorBody>('POST', `/v1/operations/processes/${unknown}/drain`);
      expect([none.status, none.body.error.code]).toEqual([404, 'process_not_found']);
    }
    expect((await processes()).map(({ state }) => state)).toEqual(['live', 'live']);
  });

  describe('of their log levels', () => {
    const set = (body: object) => service.api.call<Levels & ErrorBody>('PUT', LOG_LEVELS, body);
    const shown = async () => {
      const { body } = await service.api.get<{ data: { state: string; log_level: string; log_levels: object }[] }>(
        '/v1/operations/processes',
      );
      return body.data
        .filter(({ state }) => state === 'live')
        .map(({ log_level, log_levels }) => JSON.stringify([log_level, log_levels]));
    };

    it('are those of the configuration until an operator sets others', async () => {
      const { body } = await service.api.get<Levels>(LOG_LEVELS);
      expect(body).toEqual({
        object: 'log_levels',
        log_level: null,
        log_levels: {},
        changed_at: null,
        changed_by: null,
      });
      await eventually(
        'both processes to show theirs',
        async () =>
          (await shown()).filter((each) => each === JSON.stringify(['info', { requests: 'silent' }])).length === 2,
      );
    });

    it('change in every process within 5 s, and are kept for those that start later', async () => {
      const before = [service, worker].map((each) => changes(each.output()));
      const sentMs = performance.now();
      const { status, body } = await set({ log_level: 'debug', log_levels: { requests: 'info' } });
      expect([status, body]).toMatchObject([200, { log_level: 'debug', log_levels: { requests: 'info' } }]);
      await eventually('the lines of the change', async () =>
        [service, worker].every((each, at) => changes(each.output()) > before[at]!),
      );
      expect(performance.now() - sentMs).toBeLessThan(5_000 * busyness());
      await service.api.get('/v1/models');
      await eventually('the line of a request', async () => service.output().includes('"event":"request.finished"'));

      const next = await spawnWorker();
      await eventually('the new process to follow', async () => changes(next.output()) > 0);
      expect(next.output()).toContain('"log_level":"debug","log_levels":{"requests":"info"}');
      await next.kill('SIGTERM');
      const expected = JSON.stringify(['debug', { requests: 'info' }]);
      await eventually('the processes to show them', async () => (await shown()).every((each) => each === expected));
      const { body: overview } = await service.api.get<{ log_levels: Levels }>('/v1/operations');
      expect(overview.log_levels).toMatchObject({ log_level: 'debug' });
    });

    it('outlast a SIGHUP, which reads the configuration again', async () => {
      const before = changes(worker.output());
      worker.child.kill('SIGHUP');
      await eventually('the line of the change', async () => changes(worker.output()) > before);
      expect(worker.output().split('"event":"log_levels.changed"').at(-1)).toContain('"log_level":"debug"');
    });

    it('go back to the configuration when nothing is set; each change is audited', async () => {
      const graphql = new GraphqlClient(service.api.baseUrl, service.api.key);
      const { data } = await graphql.ask<{ setLogLevels: object }>(
        'mutation { setLogLevels(input: { logLevel: WARN, logLevels: { bus: "debug" } }) { logLevel logLevels } }',
      );
      expect(data.setLogLevels).toEqual({ logLevel: 'WARN', logLevels: { bus: 'debug' } });
      const before = changes(worker.output());
      expect((await set({})).body).toMatchObject({ log_level: null, log_levels: {} });
      await eventually('the worker to follow', async () => changes(worker.output()) > before);
      expect(worker.output().split('"event":"log_levels.changed"').at(-1)).toContain(
        '"log_level":"info","log_levels":{"requests":"silent"}',
      );
      const { body: audit } = await service.api.get<{ data: object[] }>(
        '/v1/operations/audit_events?action=log_levels.set&limit=2',
      );
      const [warn, none] = [
        { log_level: 'warn', log_levels: { bus: 'debug' } },
        { log_level: null, log_levels: {} },
      ];
      expect(audit.data).toMatchObject([
        { target_type: 'log_levels', before: warn, after: none },
        { after: warn, actor_type: 'api_key' },
      ]);
    });

    it.each([
      [{ log_level: 'loud' }, 'log_level'],
      [{ log_levels: { webhooks: 'loud' } }, 'log_levels.webhooks'],
      [{ log_levels: { nowhere: 'info' } }, 'log_levels.nowhere'],
      [{ log_levels: { __proto__: 'info', constructor: 'info' } }, 'log_levels.constructor'],
    ])('refuse %j', async (body, param) => {
      const { status, body: answer } = await set(body);
      expect([status, answer.error.code, answer.error.param]).toEqual([400, 'invalid_value', param]);
      expect((await service.api.get<Levels>(LOG_LEVELS)).body).toMatchObject({ log_level: null, log_levels: {} });
    });
  });

  // The last one: it ends the worker.
  it('drains over the API: what runs ends where it began, and a stop then loses nothing', async () => {
    const { id } = await eventually('the worker', async () =>
      (await processes()).find(({ role }) => role === 'worker'),
    );
    const { body: film } = await service.api.create({ model: 'seedance-2', prompt: 'A river', duration: 4 });
    await service.api.until(film.task_id, 'running');

    const ends = async () =>
      (
        await service.api.get<{ data: { actor_type: string }[] }>(
          `/v1/operations/audit_events?action=process.drained&target_id=${id}`,
        )
      ).body.data;
    const before = (await ends()).length;
    const drain = await service.api.call<ProcessBody>('POST', `/v1/operations/processes/${id}/drain`);
    expect(drain.status).toBe(200);
    expect(drain.body.drain_requested).toBe(true);
    await eventually('the worker to know', async () => (await rows('worker')).find((row) => row.id === id)?.draining);
    const { body: next } = await service.api.create(aCat);
    await eventually('the worker to be drained', async () => {
      const { body } = await service.api.get<ProcessBody>(`/v1/operations/processes/${id}`);
      return body.state === 'drained' && body.busy === 0;
    });
    await eventually('the audit event of the end', async () => (await ends()).length > before);
    expect((await ends())[0]!.actor_type).toBe('service');
    await worker.kill('SIGKILL');
    const { rows: ended } = await database.query('select status, attempt from tasks where id = $1', [film.task_id]);
    expect(ended).toEqual([{ status: 'succeeded', attempt: 1 }]);
    expect((await service.api.get(`/v1/tasks/${next.task_id}`)).body.status).toBe('queued');
    await service.api.cancel(next.task_id);

    const audit = await service.api.get<{ data: object[] }>(
      '/v1/operations/audit_events?action=process.drain_requested&limit=1',
    );
    expect(audit.body.data).toMatchObject([
      { target_type: 'process', target_id: id, before: { drain_requested: false }, after: { drain_requested: true } },
    ]);
    await database.query('delete from processes where id = $1', [id]);
  });
});
