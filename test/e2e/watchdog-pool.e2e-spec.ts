import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { WatchdogPool } from '../../src/platform/database/watchdog-pool.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { eventually } from '../support/wait.ts';

/** Longer than a connection may be held, and a new one looked at, until the server counts as silent. */
const SLOW_S = 3;

/** What the line to the database does with a connection that only feels the pulse. */
type Treatment = 'first word only' | 'nothing';

describe('a pool that notices a silent database', () => {
  let database: TestDatabase;
  let line: Server;
  let treatment: Treatment;
  let pulses = 0;
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
        pulses += 1;
        if (treatment === 'nothing') return;
        server.write(first);
        server.once('data', (word: Buffer) => client.write(word.subarray(0, 1)));
      });
    });
    line.listen(0, '127.0.0.1');
    await once(line, 'listening');
  });
  beforeEach(() => {
    const url = new URL(database.url);
    url.port = String((line.address() as AddressInfo).port);
    pool = new WatchdogPool({ connectionString: url.href, max: 5 });
    pulses = 0;
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await pool.end();
  });
  afterAll(async () => {
    line.close();
    await database.drop();
  });

  const slowly = () => pool.query(`select pg_sleep(${SLOW_S})`).then(() => 'answered');

  it('leaves one alone that takes long to let a new connection in, but speaks to it', async () => {
    treatment = 'first word only';
    expect(await slowly()).toBe('answered');
    expect(pulses).toBeGreaterThan(0);
  });

  it('leaves one alone that answers on other connections, though it says nothing to a new one', async () => {
    treatment = 'nothing';
    const over = new AbortController();
    const others = (async () => {
      while (!over.signal.aborted) {
        await pool.query('select 1');
        await sleep(20);
      }
    })();
    others.catch(() => undefined);
    expect(await slowly().finally(() => over.abort())).toBe('answered');
    await others;
    expect(pulses).toBeGreaterThan(0);
  });

  it('gives up on one that says nothing to anybody', async () => {
    treatment = 'nothing';
    await expect(slowly()).rejects.toThrow(/terminated/);
    await expect(pool.query('select 1')).rejects.toThrow('does not answer');
    treatment = 'first word only';
    await eventually('it to be felt again', () => pool.query('select 1').catch(() => null));
  });
});
