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

  const done = async () => (await client.query('select * from schema_migrations order by id')).rows;

  it('migrates an empty database when two processes start at once', async () => {
    await client.query('drop schema public cascade; create schema public');
    await Promise.all([migrate(database.url), migrate(database.url)]);
    expect(await done()).toHaveLength(MIGRATIONS.length);
  });

  it('changes nothing in a database that is up to date', async () => {
    const before = await done();
    await migrate(database.url);
    expect(await done()).toEqual(before);
  });
});
