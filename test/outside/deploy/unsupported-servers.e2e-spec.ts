import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { testEnv } from '../../support/test-env.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { hasPgBouncer, startPgBouncer } from '../../support/servers/pgbouncer.ts';
import { hasRedis, startRedis, startSentinel } from '../../support/servers/redis-server.ts';
import { makeTestFolder, removeTestFolder } from '../../support/test-context.ts';

const MAIN = new URL('../../../dist/main.js', import.meta.url).pathname;
/** Until then a start must have been refused. */
const LIMIT_MS = 30_000;

/** Starts the service. @returns its exit code, null if it did not end by itself, and what it wrote to stderr */
async function start(env: Record<string, string>): Promise<{ code: number | null; text: string }> {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    cwd: dirname(env.DATA_DIR!),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const timer = setTimeout(() => child.kill('SIGTERM'), LIMIT_MS);
  const exit = once(child, 'exit');
  const [code] = (await exit) as [number | null];
  clearTimeout(timer);
  return { code, text };
}

describe('a start behind a pooler', () => {
  let database: TestDatabase;
  beforeAll(async () => (database = await cloneDatabase()));
  afterAll(() => database.drop());

  const IGNORED =
    'ignore_startup_parameters = options,statement_timeout,lock_timeout,idle_in_transaction_session_timeout,extra_float_digits';

  (hasPgBouncer ? it : it.skip).each([
    ['in transaction mode', `pool_mode = transaction\n${IGNORED}`, 'a pooler in transaction or statement mode'],
    ['in statement mode', `pool_mode = statement\n${IGNORED}`, 'a pooler in transaction or statement mode'],
    ['in session mode, without the settings', `pool_mode = session\n${IGNORED}`, 'does not pass on the settings'],
    ['that refuses settings', 'pool_mode = transaction', 'does not pass on the settings'],
  ])('is refused by name: PgBouncer %s', async (_, settings, reason) => {
    const pooler = await startPgBouncer(database.url, settings);
    try {
      const { env } = await testEnv(pooler.url);
      const { code, text } = await start(env);
      expect([code, text]).toEqual([1, expect.stringContaining(reason)]);
      expect(text).toMatch(/^Darkroom did not start\. DATABASE_URL leads to a pooler.*PgBouncer/);
    } finally {
      await pooler.stop();
    }
  });
});

describe('a start with an EVENTS_URL that leads to something else', () => {
  let folder: string;
  beforeEach(() => (folder = makeTestFolder()));
  afterEach(() => removeTestFolder(folder));

  /** On the embedded PostgreSQL, which must not have been started. */
  async function expectRefusal(eventsUrl: string, reason: string): Promise<void> {
    const DATA_DIR = join(folder, 'data');
    const { env } = await testEnv('', { DATA_DIR, EVENTS_URL: eventsUrl });
    const { code, text } = await start({ ...env, DATA_DIR, DATABASE_URL: '', SECRET_KEY: '' });
    expect([code, text]).toEqual([1, expect.stringContaining(reason)]);
    expect(existsSync(join(DATA_DIR, 'postgres'))).toBe(false);
  }

  (hasRedis ? it : it.skip)('is refused by name: sentinels, servers and masters taken for another', async () => {
    const redis = await startRedis();
    const sentinel = await startSentinel(redis.port);
    try {
      await expectRefusal(sentinel.url, 'EVENTS_URL leads to a Redis Sentinel');
      await expectRefusal(`redis+cluster://127.0.0.1:${redis.port}`, 'is no node of a cluster');
      await expectRefusal(`redis+sentinel://127.0.0.1:${redis.port}/main`, 'a host in it is a Redis server');
      await expectRefusal(
        `redis+sentinel://127.0.0.1:${sentinel.port}/other`,
        '"other", that a sentinel in it does not',
      );
    } finally {
      await sentinel.stop();
      await redis.stop();
    }
  });
});
