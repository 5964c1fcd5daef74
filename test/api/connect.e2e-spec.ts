import type { Pool } from 'pg';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { createServer, type AddressInfo, connect as dial, type Server, type Socket } from 'node:net';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { connectDataSource, whileStarting } from '../../src/platform/database/connect.ts';

describe('connecting at a start', () => {
  let database: TestDatabase;
  let proxy: Server;
  const sockets: Socket[] = [];
  let ignored = 0;

  beforeAll(async () => {
    database = await cloneDatabase();
    const { hostname, port } = new URL(database.url);
    proxy = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      ignored += 1;
      if (ignored <= 2) return; // the database accepts, and does not answer
      const upstream = dial(Number(port), hostname).on('error', () => undefined);
      sockets.push(upstream);
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
    await database.drop();
  });

  it('waits for a database that answers late', async () => {
    const url = new URL(database.url);
    url.port = String((proxy.address() as AddressInfo).port);
    const dataSource = await connectDataSource(url.href);
    expect(ignored).toBe(3);
    await dataSource.destroy();
  });

  it('reports at once that nothing listens', async () => {
    await expect(connectDataSource('postgres://darkroom@127.0.0.1:1/darkroom')).rejects.toThrow('ECONNREFUSED');
  });

  it('waits longer for a connection of the pool until all modules have started', async () => {
    const dataSource = await connectDataSource(database.url, { max: 1 });
    const pool = (dataSource.driver as PostgresDriver).master as Pool;
    pool.options.connectionTimeoutMillis = 1;
    const only = await pool.connect();
    const { asked } = await whileStarting(dataSource, async () => ({ asked: pool.query('select 1 as answer') }));
    await expect(pool.query('select 1')).rejects.toThrow('timeout exceeded'); // it asked later, and gives up first
    only.release();
    expect((await asked).rows).toEqual([{ answer: 1 }]);
    await dataSource.destroy();
  });
});
