import { jest } from '@jest/globals';
import { type Config, loadConfig } from '../platform/config.ts';
import type { Sql } from '../platform/database/sql.ts';
import { Secrets } from '../platform/secrets.ts';
import { newApiKey } from './api-keys/api-key-format.ts';
import { Authenticator } from './authenticator.ts';
import type { FoundApiKey } from './sql/find-by-hashes.ts';
import { LastUse } from './last-use.ts';

const SECRETS = new Secrets(Buffer.alloc(32, 1));
const GOOD: FoundApiKey = { id: 'key_1', scopes: [], limits: {}, revoked: false, validMs: null, lastUseStale: false };

/** A table of keys in the database's place, which only the clock can make old. */
let table: Partial<FoundApiKey> | null;
let look: jest.Mock<() => void>;
let holdUntil: Promise<void> | null;

beforeEach(() => {
  [table, holdUntil, look] = [{}, null, jest.fn()];
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => jest.useRealTimers());

function authenticator(config: Partial<Config> = {}): Authenticator {
  const run = async (_: unknown, [hashes]: [Buffer[]]) => {
    look();
    const answer = table;
    await holdUntil;
    return answer === null ? [] : hashes.map((hash) => ({ hash, ...GOOD, ...answer }));
  };
  const sql = { run } as unknown as Sql;
  return new Authenticator({ ...loadConfig({}), ...config }, SECRETS, new LastUse(sql), sql);
}

describe('the memory of the authenticator', () => {
  it('answers from memory for the configured time, then asks again', async () => {
    const auth = authenticator({ apiKeyCacheTtlS: 2 });
    const key = newApiKey();
    await auth.authenticate(key);
    jest.advanceTimersByTime(1999);
    await auth.authenticate(key);
    expect(look).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(1);
    await auth.authenticate(key);
    expect(look).toHaveBeenCalledTimes(2);
  });

  it('remembers nothing for longer than 5 s, whatever is configured', async () => {
    const auth = authenticator({ apiKeyCacheTtlS: 60 });
    const key = newApiKey();
    await auth.authenticate(key);
    table = { revoked: true };
    jest.advanceTimersByTime(5000);
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_revoked' });
  });

  it('counts the time from the question, so that a slow answer does not prolong a revoked key', async () => {
    const auth = authenticator();
    const key = newApiKey();
    let answer!: () => void;
    holdUntil = new Promise((resolve) => (answer = resolve));
    const asking = auth.authenticate(key);
    await new Promise(setImmediate); // the question is on its way, and reads the key as good
    table = { revoked: true };
    jest.advanceTimersByTime(4000);
    answer();
    await asking;
    jest.advanceTimersByTime(1000);
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_revoked' });
  });

  it('refuses an expired key from memory in time', async () => {
    const auth = authenticator();
    const key = newApiKey();
    table = { validMs: 1500 };
    await auth.authenticate(key);
    table = { validMs: -1 };
    jest.advanceTimersByTime(1500);
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_expired' });
  });

  it('does not remember an answer that was under way when the key was forgotten', async () => {
    const auth = authenticator();
    const key = newApiKey();
    let answer!: () => void;
    holdUntil = new Promise((resolve) => (answer = resolve));
    const asking = auth.authenticate(key);
    await new Promise(setImmediate);
    table = { revoked: true };
    auth.forget('key_1');
    answer();
    await asking; // began before the revocation
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_revoked' });
  });

  it('keeps good keys while 10,001 unknown ones come by', async () => {
    const auth = authenticator();
    const key = newApiKey();
    await auth.authenticate(key);
    table = null;
    const refused = await Promise.allSettled(
      Array.from({ length: 10_001 }, async () => auth.authenticate(newApiKey())),
    );
    expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
    look.mockClear();
    await auth.authenticate(key);
    expect(look).not.toHaveBeenCalled();
  });

  it('asks once for all that come with the same key meanwhile', async () => {
    const auth = authenticator();
    const key = newApiKey();
    await Promise.all(Array.from({ length: 50 }, () => auth.authenticate(key)));
    expect(look).toHaveBeenCalledTimes(1);
  });
});
