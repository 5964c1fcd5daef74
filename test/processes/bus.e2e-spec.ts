import { execFile } from 'node:child_process';
import { Client } from 'pg';
import { channelsOf } from '../../src/platform/events/channel.ts';
import { Secrets } from '../../src/platform/secrets.ts';
import { aFailure } from '../support/clients/api.ts';
import { SECRET_KEY, testEnv } from '../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type ServiceProcess, spawnService } from '../support/process.ts';
import { freePort } from '../support/free-port.ts';
import { eventually } from '../support/wait.ts';

const [channel] = channelsOf(new Secrets([Buffer.from(SECRET_KEY, 'hex')]));

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
  });
  afterAll(async () => {
    await client.end();
    await running.kill('SIGTERM');
    await database.drop();
  });

  it('has a channel of its own for each deployment', () => {
    const [other] = channelsOf(new Secrets([Buffer.from('fedcba9876543210'.repeat(4), 'hex')]));
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

describe('an unreachable Redis', () => {
  let database: TestDatabase;
  let running: ServiceProcess;
  let env: Record<string, string>;
  beforeAll(async () => {
    database = await cloneDatabase();
    const eventsUrl = `redis://user:not-in-logs@127.0.0.1:${await freePort()}`;
    ({ env } = await testEnv(database.url, { LOG_LEVEL: 'warn', EVENTS_URL: eventsUrl }));
    running = await spawnService(env);
  });
  afterAll(async () => {
    await running.kill('SIGTERM');
    await database.drop();
  });

  it('is logged once, and reported by /readyz and /metrics while the service stays ready', async () => {
    const { status, body } = await running.api.get<{ checks: object }>('/readyz');
    expect([status, body.checks]).toEqual([200, { database: 'ok', events: 'failed', queue: 'ok', storage: 'ok' }]);
    expect((await running.api.get('/metrics')).text).toMatch(/^darkroom_bus_connected 0$/m);
    await eventually('the log line', async () => running.output().includes('bus.disconnected'));
    expect(running.output().match(/bus\.disconnected/g)).toHaveLength(1);
    expect(running.output()).not.toContain('not-in-logs');
  });

  it('is a finding of doctor', async () => {
    const doctor = new URL('../../dist/cli/darkroom.js', import.meta.url).pathname;
    const all = { PATH: process.env.PATH, ...env };
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [doctor, 'doctor', '--json'], { env: all, cwd: env.DATA_DIR }, (_error, stdout) =>
        resolve(stdout),
      );
    });
    expect(JSON.parse(output)).toContainEqual({
      check: 'events',
      ok: false,
      note: expect.stringContaining('ECONNREFUSED'),
    });
    expect(output).not.toContain('not-in-logs');
  });
});
