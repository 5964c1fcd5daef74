import { Client } from 'pg';
import { channelOf } from '../../src/platform/events/channel.ts';
import { Secrets } from '../../src/platform/secrets.ts';
import { aFailure } from '../support/clients/api.ts';
import { SECRET_KEY, testEnv } from '../support/app.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { eventually } from '../support/wait.ts';

const channel = channelOf(new Secrets(Buffer.from(SECRET_KEY, 'hex')));

describe('the bus', () => {
  let database: TestDatabase;
  let running: ServiceProcess;
  let client: Client;
  beforeAll(async () => {
    database = await cloneDatabase();
    const { env } = await testEnv(database.url, { LOG_LEVEL: 'warn' });
    running = await spawnService(env);
    client = new Client({ connectionString: database.url });
    await client.connect();
  }, 90_000);
  afterAll(async () => {
    await client.end();
    await running.kill('SIGTERM');
    await database.drop();
  });

  it('has a channel of its own for each deployment', () => {
    const other = channelOf(new Secrets(Buffer.from('fedcba9876543210'.repeat(4), 'hex')));
    expect(channel).toMatch(/^darkroom_events_[0-9a-f]{8}$/);
    expect(other).not.toBe(channel);
  });

  it.each([
    ['text that is no JSON', 'not json'],
    ['the message of another version', '["zzzzzzzz",[["task",7]],0]'],
    ['a number', '7'],
    ['an object', '{"from":"x"}'],
    ['null', 'null'],
  ])('survives %s', async (_what, payload) => {
    await client.query('select pg_notify($1, $2)', [channel, payload]);
    const { body } = await running.api.create(aFailure, { prefer: 'wait=20' });
    expect(body.status).toBe('failed');
    expect(running.child.exitCode).toBeNull();
  });

  it('logs malformed messages, and only few lines of many', async () => {
    for (let at = 0; at < 500; at++) await client.query('select pg_notify($1, $2)', [channel, 'not json']);
    await eventually('a log line', async () => running.output().includes('bus.message_failed'));
    expect(running.output().match(/bus\.message_failed/g)!.length).toBeLessThan(10);
  });
});
