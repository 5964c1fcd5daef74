import { testEnv } from '../support/test-env.ts';
import type { ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { freePort } from '../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const PATH = '/v1/operations/log_levels';

interface Levels {
  log_level: string | null;
  log_levels: Record<string, string>;
  changed_at: number | null;
  changed_by: string | null;
}

const changes = (service: ServiceProcess) => service.output().split('"event":"log_levels.changed"').length - 1;

describe('the log levels of all processes', () => {
  let database: TestDatabase;
  let env: Record<string, string>;
  let first: ServiceProcess;
  let worker: ServiceProcess;

  const spawnWorker = async () => spawnService({ ...env, ROLE: 'worker', PORT: String(await freePort()) });

  beforeAll(async () => {
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url, { LOG_LEVEL: 'info', LOG_LEVELS: 'requests=silent', ROLE: 'api' }));
    first = await spawnService(env);
    worker = await spawnWorker();
  });
  afterAll(async () => {
    await Promise.all([first, worker].map((service) => service?.kill('SIGKILL')));
    await database.drop();
  });

  const set = (body: object) => first.api.call<Levels & ErrorBody>('PUT', PATH, body);
  const shown = async () => {
    const { body } = await first.api.get<{ data: { state: string; log_level: string; log_levels: object }[] }>(
      '/v1/operations/processes',
    );
    return body.data
      .filter(({ state }) => state === 'live')
      .map(({ log_level, log_levels }) => JSON.stringify([log_level, log_levels]));
  };

  it('are those of the configuration until an operator sets others', async () => {
    const { body } = await first.api.get<Levels>(PATH);
    expect(body).toEqual({ object: 'log_levels', log_level: null, log_levels: {}, changed_at: null, changed_by: null });
    await eventually(
      'both processes to show theirs',
      async () =>
        (await shown()).filter((each) => each === JSON.stringify(['info', { requests: 'silent' }])).length === 2,
      20_000,
    );
  });

  it('change in every process within 5 s, and are kept for those that start later', async () => {
    const before = [first, worker].map(changes);
    const sentMs = performance.now();
    const { status, body } = await set({ log_level: 'debug', log_levels: { requests: 'info' } });
    expect([status, body]).toMatchObject([200, { log_level: 'debug', log_levels: { requests: 'info' } }]);
    await eventually('the lines of the change', async () =>
      [first, worker].every((service, at) => changes(service) > before[at]!),
    );
    expect(performance.now() - sentMs).toBeLessThan(5_000);
    await first.api.get('/v1/models');
    await eventually('the line of a request', async () => first.output().includes('"event":"request.finished"'));

    const next = await spawnWorker();
    await eventually('the new process to follow', async () => changes(next) > 0);
    expect(next.output()).toContain('"log_level":"debug","log_levels":{"requests":"info"}');
    await next.kill('SIGTERM');
    const expected = JSON.stringify(['debug', { requests: 'info' }]);
    await eventually(
      'the processes to show them',
      async () => (await shown()).every((each) => each === expected),
      20_000,
    );
    const { body: overview } = await first.api.get<{ log_levels: Levels }>('/v1/operations');
    expect(overview.log_levels).toMatchObject({ log_level: 'debug' });
  });

  it('outlast a SIGHUP, which reads the configuration again', async () => {
    const before = changes(worker);
    worker.child.kill('SIGHUP');
    await eventually('the line of the change', async () => changes(worker) > before);
    expect(worker.output().split('"event":"log_levels.changed"').at(-1)).toContain('"log_level":"debug"');
  });

  it('go back to the configuration when nothing is set; each change is audited', async () => {
    const graphql = new GraphqlClient(first.api.baseUrl, first.api.key);
    const { data } = await graphql.ask<{ setLogLevels: object }>(
      'mutation { setLogLevels(input: { logLevel: WARN, logLevels: { bus: "debug" } }) { logLevel logLevels } }',
    );
    expect(data.setLogLevels).toEqual({ logLevel: 'WARN', logLevels: { bus: 'debug' } });
    const before = changes(worker);
    expect((await set({})).body).toMatchObject({ log_level: null, log_levels: {} });
    await eventually('the worker to follow', async () => changes(worker) > before);
    expect(worker.output().split('"event":"log_levels.changed"').at(-1)).toContain(
      '"log_level":"info","log_levels":{"requests":"silent"}',
    );
    const { body: audit } = await first.api.get<{ data: object[] }>(
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
    expect((await first.api.get<Levels>(PATH)).body).toMatchObject({ log_level: null, log_levels: {} });
  });
});
