import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import { WatchdogPool } from '../../../../src/platform/database/watchdog-pool.ts';
import { replicationReport } from '../../../../src/platform/database/servers/replication-report.ts';
import { Bus } from '../../../../src/platform/events/bus.ts';
import { PostgresTransport } from '../../../../src/platform/events/postgres-transport.ts';
import { Servers } from '../../../../src/platform/database/servers/servers.ts';
import { PostgresPair, postgresPrograms } from '../../../support/servers/postgres-pair.ts';
import { eventually } from '../../../support/wait.ts';
import { say } from '../tools.ts';

if (postgresPrograms === null)
  say('SKIPPED connections to several PostgreSQL servers: no pg_basebackup is here (Debian: postgresql)');

(postgresPrograms === null ? describe.skip : describe)('a pool of connections to two PostgreSQL servers', () => {
  let pair: PostgresPair;
  let pool: WatchdogPool;
  beforeAll(async () => {
    pair = await PostgresPair.start();
    await pair.primary.query('create table notes (text text)');
  });
  afterAll(() => pair.remove());
  beforeEach(() => {
    pool = new WatchdogPool({ databaseUrl: pair.url, max: 5, connectionTimeoutMillis: 2_000 });
  });
  afterEach(async () => {
    await Promise.race([pool.end(), sleep(2_000, undefined, { ref: false })]); // a failed test keeps connections
    await pair.primary.reset('default_transaction_read_only');
  });

  const portOf = async (): Promise<number> =>
    (await pool.query<{ port: number }>('select inet_server_port() as port')).rows[0]!.port;
  const standbyFirst = (): string => {
    const hosts = [pair.standby, pair.primary].map(({ host }) => host).join(',');
    return `postgres://darkroom@${hosts}/darkroom?target_session_attrs=read-write`;
  };

  it('connects to the one that takes writes, whatever the order', async () => {
    expect(await portOf()).toBe(pair.primary.port);
    const other = new WatchdogPool({ databaseUrl: standbyFirst(), max: 1 });
    const { rows } = await other.query<{ port: number }>('select inet_server_port() as port');
    await other.end();
    expect(rows[0]!.port).toBe(pair.primary.port);
    const client = await new Servers(standbyFirst()).connect({});
    expect((client as Client & { port: number }).port).toBe(pair.primary.port);
    await client.end();
  });

  it('tells an operator who is primary, and which standby is synchronous', async () => {
    expect(await replicationReport(pair.url)).toMatch(
      new RegExp(
        `${pair.primary.host} is a primary, timeline \\d+; ${pair.standby.host} is a standby; synchronous: standby_`,
      ),
    );
    await pair.primary.set('synchronous_standby_names', '');
    expect(await replicationReport(pair.primary.url)).toMatch(/^WARNING no standby is synchronous/);
    await pair.primary.set('synchronous_standby_names', `ANY 1 (${pair.standby.standbyName})`);
  });

  it('says of each server why none will do', async () => {
    const url = `postgres://darkroom@${pair.standby.host},127.0.0.1:1/darkroom?target_session_attrs=read-write`;
    const none = new WatchdogPool({ databaseUrl: url });
    const refusal = expect(none.query('select 1')).rejects;
    await refusal.toMatchObject({ code: '57P03', message: expect.stringContaining('is a standby') });
    await none.end();
    const one = new WatchdogPool({
      databaseUrl: `postgres://darkroom@${pair.standby.host}/darkroom?target_session_attrs=read-write`,
    });
    await expect(one.query('select 1')).rejects.toMatchObject({ code: '25006' });
    await one.end();
  });

  it.each(['several servers', 'one server'])(
    'drops every connection to a server that takes no more writes (%s)',
    async (of) => {
      if (of === 'one server') {
        await pool.end();
        pool = new WatchdogPool({ connectionString: pair.primary.url, max: 5 });
      }
      const idle = await Promise.all([pool.connect(), pool.connect(), pool.connect()]);
      const inTransaction = idle.pop()!;
      await inTransaction.query('begin');
      for (const client of idle) client.release();
      expect(pool.totalCount).toBe(3);
      await pair.primary.set('default_transaction_read_only', 'on');
      // The server reads its settings a moment later.
      await eventually('a refusal', () =>
        write().then(
          () => false,
          ({ code }: { code?: string }) => code === '25006',
        ),
      );
      await expect(inTransaction.query('select 1')).rejects.toThrow(/Connection terminated|not queryable/);
      inTransaction.release(true);
      await eventually('the pool to be empty', async () => pool.totalCount === 0);
      if (of === 'one server') {
        // It goes on reading there, and a refused write of a connection that was read-only from its beginning drops nothing.
        const reader = await pool.connect();
        await expect(write()).rejects.toMatchObject({ code: '25006' });
        await reader.query('select 1');
        reader.release();
      } else {
        await expect(pool.query('select 1')).rejects.toMatchObject({ code: '25006' });
      }

      await pair.primary.reset('default_transaction_read_only');
      await eventually('a write', () => write().then(Boolean, () => false));
    },
  );

  it('notices by the statement of another connection, which only reads', async () => {
    const [first, second] = await Promise.all([pool.connect(), pool.connect()]);
    await pair.primary.set('default_transaction_read_only', 'on');
    await eventually('the server to tell', async () => (await first.query('select 1').catch(() => null)) === null);
    await expect(second.query('select 1')).rejects.toThrow();
    for (const client of [first, second]) client.release(true);
    await pair.primary.reset('default_transaction_read_only');
    await eventually('a write', () => write().then(Boolean, () => false));
  });

  it.each([
    ['while connections hang', 5_000],
    ['while nobody uses it', 12_000],
  ])('leaves a primary that still answers, when another one has been promoted (%s)', async (how, withinMs) => {
    const holder = await pool.connect();
    await holder.query('begin');
    if (how === 'while nobody uses it') {
      await holder.query('commit');
      holder.release();
    }
    const bus = new Bus(new PostgresTransport(pair.url, 'darkroom_failover'));
    await bus.start();
    const old = pair.primary;
    expect(await portOf()).toBe(old.port);
    await pair.promote(); // the old one knows nothing of it
    const since = performance.now();
    await eventually('the pool to leave', async () => (await portOf().catch(() => old.port)) !== old.port, 30_000);
    const tookMs = performance.now() - since;
    if (how === 'while connections hang') {
      await expect(holder.query('select 1')).rejects.toThrow();
      holder.release(true);
    }
    expect(tookMs).toBeLessThan(withinMs);
    expect(await portOf()).toBe(pair.primary.port);
    const left = `select 1 from pg_stat_activity where application_name in ('', 'darkroom:bus') and backend_type = 'client backend'
      and pid <> pg_backend_pid()`;
    await eventually('no connection to be left', async () => (await old.query(left)).length === 0, 15_000);
    await eventually('the bus to be back', async () => bus.isConnected);
    await bus.stop();
    say(`left a primary that was cut off after ${Math.round(tookMs)} ms, ${how}`);
    await old.stop('immediate');
    await pair.rejoin();
  });

  const write = () => pool.query(`insert into notes values ('x')`);
});
