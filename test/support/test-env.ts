import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newApiKey } from '../../src/auth/credentials/api-key-format.ts';
import { freePort } from './free-port.ts';
import { TEST_FOLDER } from './test-context.ts';

export const SECRET_KEY = '0123456789abcdef'.repeat(4);

/** The variables that every program of a test gets from the test run. */
export const programEnv = () => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
});

/**
 * Makes requests wait for a connection to the database, because a busy machine opens connections slowly. By default
 * they get a 503 after 2 s.
 */
export function withPatience(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set('connect_timeout', '60');
  return url.href;
}

/**
 * The settings that most tests need: short times, no rate limits, loopback allowed. This function is not in
 * in-process.ts, because loading the sources of the service into Jest takes three seconds of processor time for each
 * test file.
 */
export async function testEnv(databaseUrl: string, settings: Record<string, string> = {}) {
  const dataDir = settings.DATA_DIR ?? mkdtempSync(join(process.env[TEST_FOLDER] ?? tmpdir(), 'data-'));
  const port = settings.PORT ?? String(await freePort());
  const env: Record<string, string> = {
    DATABASE_URL: databaseUrl,
    DATA_DIR: dataDir,
    SECRET_KEY,
    BOOTSTRAP_API_KEY: newApiKey(),
    PORT: port,
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'silent',
    SHUTDOWN_GRACE_S: '1',
    RATE_CREATE_PER_MIN: '0',
    RATE_READ_PER_MIN: '0',
    RATE_KEYLESS_PER_MIN: '0',
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
    OUTBOUND_ALLOW_HTTP: 'true',
    ...settings,
  };
  return { env, dataDir };
}
