import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { testEnv } from '../../../support/test-env.ts';
import { aCat, aFailure, aHang, type Api } from '../../../support/clients/api.ts';
import { WebhookClient } from '../../../support/clients/webhook-client.ts';
import { FaultPostgres } from '../../../support/faults/postgres.ts';
import { freePort } from '../../../support/free-port.ts';
import { type ServiceProcess, spawnService } from '../../../support/process.ts';
import { pgBouncers, startPgBouncer } from '../../../support/servers/pgbouncer.ts';
import { Receiver } from '../../../support/servers/receiver.ts';
import { eventually } from '../../../support/wait.ts';
import { say } from '../tools.ts';

/** As the project ships them, but for addresses and passwords. */
const [, TRANSACTION = ''] = readFileSync(
  new URL('../../../../deploy/pgbouncer/pgbouncer.ini', import.meta.url),
  'utf8',
).split(/^auth_file.*$/m);

const suite = pgBouncers.supported === null ? describe.skip : describe;
if (pgBouncers.supported === null)
  say(
    'SKIPPED PgBouncer: none of 1.21 or newer is here (Debian 13: pgbouncer; older: test/outside/deploy/pgbouncer/build.sh)',
  );

suite('two processes behind PgBouncer in transaction mode', () => {
  let server: FaultPostgres;
  let pooler: Awaited<ReturnType<typeof startPgBouncer>>;
  let shared: Record<string, string>;
  let first: ServiceProcess;
  let second: ServiceProcess;
  const running: ServiceProcess[] = [];

  beforeAll(async () => {
    server = await FaultPostgres.start();
    pooler = await startPgBouncer(server.url, TRANSACTION, pgBouncers.supported!);
    const pooled = { DATABASE_POOLER: 'transaction', DATABASE_DIRECT_URL: server.url, DATABASE_POOL_MAX: '12' };
    ({ env: shared } = await testEnv(pooler.url, { ...pooled, TASK_SWEEP_S: '1' }));
    // At once, on an empty database: one of them migrates.
    [first, second] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(running.map((one) => one.kill('SIGKILL')));
    await pooler.stop();
    await server.remove();
  });

  async function start(): Promise<ServiceProcess> {
    const port = String(await freePort());
    const { env } = await testEnv(pooler.url, { ...shared, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` });
    const service = await spawnService(env);
    running.push(service);
    return service;
  }
  const apis = (): Api[] => [first.api, second.api];

  it('create, claim, end, list and deliver', async () => {
    const receiver = await Receiver.start();
    await new WebhookClient(first.api).endpoint(receiver.url, { events: ['task.completed', 'task.failed'] });
    const created = await Promise.all(
      Array.from({ length: 200 }, (_, nth) => apis()[nth % 2]!.create(nth % 20 === 0 ? aCat : aFailure)),
    );
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]));
    for (const { body } of created) await second.api.untilFinal(body.task_id);
    await eventually('all webhooks', async () => new Set(receiver.ids).size >= 200, 60_000);
    expect((await first.api.get<{ data: object[] }>('/v1/tasks?limit=100')).body.data).toHaveLength(100);
    await receiver.stop();
  });

  it('hear of each other at once', async () => {
    const { body } = await first.api.create(aHang);
    await first.api.until(body.task_id, 'running');
    const since = performance.now();
    const waits = second.api.get(`/v1/tasks/${body.task_id}?wait=20`);
    await first.api.cancel(body.task_id);
    expect((await waits).body).toMatchObject({ status: 'failed' });
    expect(performance.now() - since).toBeLessThan(3_000);
  });

  it('have the time-outs and plans of the service in every connection of the pooler', async () => {
    const client = new Client({ connectionString: pooler.url });
    await client.connect();
    const { rows } = await client.query(
      `select current_setting('lock_timeout') as lock, current_setting('statement_timeout') as statement,
         current_setting('idle_in_transaction_session_timeout') as idle, current_setting('enable_seqscan') as seqscan`,
    );
    await client.end();
    expect(rows).toEqual([{ lock: '2s', statement: '30s', idle: '5s', seqscan: 'off' }]);
  });

  it('answer 503 within 2.5 s when the server behind it is frozen, and serve again after', async () => {
    const load = new AbortController();
    const answers: { status: number; ms: number }[] = [];
    const client = async (): Promise<void> => {
      while (!load.signal.aborted) {
        const since = performance.now();
        const { status } = await first.api.get('/v1/tasks?limit=1');
        answers.push({ status, ms: performance.now() - since });
      }
    };
    server.freeze();
    const clients = Array.from({ length: 4 }, client);
    await eventually('a refusal', async () => answers.some(({ status }) => status === 503));
    load.abort();
    await Promise.all(clients);
    server.thaw();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(2_500);
    await eventually('an answer', async () => (await first.api.get('/v1/tasks?limit=1')).status === 200);
  });

  it('refuse a pooler that keeps no prepared statements', async () => {
    const settings = TRANSACTION.replace('max_prepared_statements = 200', 'max_prepared_statements = 0');
    const without = await startPgBouncer(server.url, settings, pgBouncers.supported!);
    try {
      expect(await refusal({ DATABASE_URL: without.url })).toMatch(/max_prepared_statements/);
    } finally {
      await without.stop();
    }
  });

  (pgBouncers.old === null ? it.skip : it)('refuse a PgBouncer older than 1.21', async () => {
    const settings = TRANSACTION.replace(/max_prepared_statements.*\n/, '');
    const old = await startPgBouncer(server.url, settings, pgBouncers.old!);
    try {
      expect(await refusal({ DATABASE_URL: old.url })).toMatch(/PgBouncer 1\.21 or newer/);
    } finally {
      await old.stop();
    }
  });

  it('refuse a direct address that leads through the pooler or to another database', async () => {
    expect(await refusal({ DATABASE_DIRECT_URL: pooler.url })).toMatch(/DATABASE_DIRECT_URL leads to a pooler/);
    const other = new URL(server.url);
    other.pathname = '/postgres';
    expect(await refusal({ DATABASE_DIRECT_URL: other.href })).toMatch(/another database/);
  });

  it('refuse a pooler in statement mode', async () => {
    const settings = TRANSACTION.replace('= transaction', '= statement');
    const pooled = await startPgBouncer(server.url, settings, pgBouncers.supported!);
    try {
      expect(await refusal({ DATABASE_URL: pooled.url })).toMatch(/is in statement mode/);
    } finally {
      await pooled.stop();
    }
  });

  it('refuse a database whose role lacks the settings', async () => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query('alter role current_user in database darkroom reset lock_timeout');
    const fresh = await startPgBouncer(server.url, TRANSACTION, pgBouncers.supported!);
    try {
      expect(await refusal({ DATABASE_URL: fresh.url, MIGRATE: 'off' })).toMatch(/lock_timeout.*darkroom migrate/s);
    } finally {
      await client.query(`alter role current_user in database darkroom set lock_timeout = '2s'`);
      await client.end();
      await fresh.stop();
    }
  });

  /** What a start with these settings says. @throws Error if it starts */
  async function refusal(settings: Record<string, string>): Promise<string> {
    const { env } = await testEnv(pooler.url, { ...shared, PORT: String(await freePort()), ...settings });
    try {
      running.push(await spawnService(env));
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error('It started.');
  }
});
