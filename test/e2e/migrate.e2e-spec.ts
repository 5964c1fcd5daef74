import { Client } from 'pg';
import { migrate } from '../../src/platform/database/migrate.ts';
import { MIGRATIONS } from '../../src/platform/database/migrations.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

describe('migrate', () => {
  let database: TestDatabase;
  let client: Client;

  beforeEach(async () => {
    database = await cloneDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
  });

  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  const counts = async () => {
    const { rows } = await client.query(
      `select (select count(*)::int from schema_migrations) as ours,
              (select count(*)::int from graphile_worker.migrations) as the_queues`,
    );
    return rows[0];
  };

  it('brings an empty database to the present when two processes do it at once', async () => {
    await client.query('drop schema public cascade; create schema public; drop schema graphile_worker cascade');
    await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(await counts()).toEqual({ ours: MIGRATIONS.length, the_queues: expect.any(Number) });
    expect((await counts()).the_queues).toBeGreaterThan(15);
  });

  it('changes nothing in a database that is up to date', async () => {
    const before = await counts();
    await migrate(database.url);
    expect(await counts()).toEqual(before);
  });
});
