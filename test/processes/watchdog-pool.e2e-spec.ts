import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { WatchdogPool } from '../../src/platform/database/watchdog-pool.ts';
import { currentRequest } from '../../src/platform/observe/logging/request-context.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';

/** Longer than a query may take plus a probe may take before the server counts as silent. */
const SLOW_S = 3;

/** What the proxy before the database forwards to a probe connection. */
type Treatment = 'first byte only' | 'nothing';

describe('a pool that notices a silent database', () => {
  let database: TestDatabase;
  let line: Server;
  let treatment: Treatment;
  let probes = 0;
  let pool: WatchdogPool;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    database = await cloneDatabase();
    const { hostname, port } = new URL(database.url);
    line = createServer((client) => {
      client.once('data', (first: Buffer) => {
        const server = connect(Number(port), hostname);
        for (const socket of [client, server]) sockets.push(socket.on('error', () => undefined));
        client.once('close', () => server.destroy());
        if (!first.includes('darkroom:pulse')) {
          server.write(first);
          client.pipe(server).pipe(client);
          return;
        }
        probes += 1;
        if (treatment === 'nothing') return;
        server.write(first);
        server.once('data', (bytes: Buffer) => client.write(bytes.subarray(0, 1)));
      });
    });
    line.listen(0, '127.0.0.1');
    await once(line, 'listening');
  });
  beforeEach(() => {
    const url = new URL(database.url);
    url.port = String((line.address() as AddressInfo).port);
    pool = new WatchdogPool({ connectionString: url.href, max: 5 });
    probes = 0;
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await pool.end();
  });
  afterAll(async () => {
    line.close();
    await database.drop();
  });

  const slowQuery = () => pool.query(`select pg_sleep(${SLOW_S})`).then(() => 'answered');

  it('keeps connections to a server that is slow to accept the probe but sends bytes to it', async () => {
    treatment = 'first byte only';
    expect(await slowQuery()).toBe('answered');
    expect(probes).toBeGreaterThan(0);
  });

  it('keeps connections to a server that answers on other connections but not to the probe', async () => {
    treatment = 'nothing';
    const over = new AbortController();
    const others = (async () => {
      while (!over.signal.aborted) {
        await pool.query('select 1');
        await sleep(20);
      }
    })();
    others.catch(() => undefined);
    expect(await slowQuery().finally(() => over.abort())).toBe('answered');
    await others;
    expect(probes).toBeGreaterThan(0);
  });

  it('closes connections to a server that answers on no connection', async () => {
    treatment = 'nothing';
    await expect(slowQuery()).rejects.toThrow(/terminated/);
    await expect(pool.query('select 1')).rejects.toThrow('does not answer');
    treatment = 'first byte only';
    await eventually('the database to answer again', () => pool.query('select 1').catch(() => null));
  });
});

describe('the connections of a pool', () => {
  const A_LOCK = 7;
  let database: TestDatabase;
  let holder: Client;
  let pool: WatchdogPool;
  beforeAll(async () => {
    database = await cloneDatabase();
    holder = new Client(database.url);
    await holder.connect();
  });
  beforeEach(() => holder.query('select pg_advisory_lock($1)', [A_LOCK]));
  afterEach(async () => {
    await holder.query('select pg_advisory_unlock_all()');
    await pool.end();
  });
  afterAll(async () => {
    await holder.end();
    await database.drop();
  });

  const as = <Result>(key: string, work: () => Promise<Result>) =>
    currentRequest.run({ id: 'req_1', shareOf: key }, work);
  const waits = () => pool.query('select pg_advisory_xact_lock_shared($1)', [A_LOCK]).then(() => 'done');
  const passes = () => pool.query('select 1').then(() => 'passed');
  const waiting = (count: number) =>
    eventually(`${count} statements to wait`, async () => {
      const { rows } = await holder.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`,
      );
      return rows.length === count;
    });

  it('are for the requests of one API key up to a quarter, and the last quarter is for keys that use none', async () => {
    pool = new WatchdogPool({ connectionString: database.url, max: 8, connectionTimeoutMillis: 60_000 });
    const slow = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd', 'd'].map((key) => as(key, waits));
    await waiting(2 + 2 + 2 + 1);
    expect(await as('e', passes)).toBe('passed');
    expect(await passes()).toBe('passed');
    await waiting(7);
    await holder.query('select pg_advisory_unlock($1)', [A_LOCK]);
    expect(await Promise.all(slow)).toEqual(slow.map(() => 'done'));
    expect(await as('a', passes)).toBe('passed');
  });

  it('are refused to a request whose API key has used its share for long', async () => {
    pool = new WatchdogPool({ connectionString: database.url, max: 8, connectionTimeoutMillis: 1_000 });
    const slow = [as('a', waits), as('a', waits)];
    await waiting(2);
    await expect(as('a', passes)).rejects.toMatchObject({ code: 'service_unavailable', retryAfterS: 1 });
    expect(await as('b', passes)).toBe('passed');
    await holder.query('select pg_advisory_unlock($1)', [A_LOCK]);
    expect(await Promise.all(slow)).toEqual(['done', 'done']);
  });
});
