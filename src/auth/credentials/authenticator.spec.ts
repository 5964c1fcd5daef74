import { jest } from '@jest/globals';
import { type Config, loadConfig } from '../../platform/config/config.ts';
import type { Sql } from '../../platform/database/sql.ts';
import { newApiKey } from './api-key-format.ts';
import { Authenticator } from './authenticator.ts';
import type { FoundApiKey } from './sql/find-by-hashes.ts';
import type { KeyHashes } from './key-hashes.ts';
import { LastUse } from './last-use.ts';

const hashes = { of: (key: string) => [Buffer.from(key)], noteUse: () => undefined } as unknown as KeyHashes;
const GOOD: FoundApiKey = {
  id: 'key_1',
  scopes: [],
  limits: {},
  models: null,
  revoked: false,
  bounds: [],
  validMs: null,
  lastUseStale: false,
};

/** The row that the database returns for every hash; null: none. */
let row: Partial<FoundApiKey> | null;
let queried: jest.Mock<() => void>;
let answerAfter: Promise<void> | null;

beforeEach(() => {
  [row, answerAfter, queried] = [{}, null, jest.fn()];
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
});
afterEach(() => jest.useRealTimers());

function authenticator(config: Partial<Config> = {}): Authenticator {
  const run = async (_: unknown, [hashes]: [Buffer[]]) => {
    queried();
    const answer = row;
    await answerAfter;
    return answer === null ? [] : hashes.map((hash) => ({ hash, ...GOOD, ...answer }));
  };
  const sql = { run } as unknown as Sql;
  return new Authenticator({ ...loadConfig({}), ...config }, hashes, new LastUse(sql), sql);
}

describe('the cache of the authenticator', () => {
  it('is used for the configured time, then the database is queried again', async () => {
    const auth = authenticator({ apiKeyCacheTtlS: 2 });
    const key = newApiKey();
    await auth.authenticate(key);
    jest.advanceTimersByTime(1999);
    await auth.authenticate(key);
    expect(queried).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(1);
    await auth.authenticate(key);
    expect(queried).toHaveBeenCalledTimes(2);
  });

  it('is never used for longer than 5 s, whatever is configured', async () => {
    const auth = authenticator({ apiKeyCacheTtlS: 60 });
    const key = newApiKey();
    await auth.authenticate(key);
    row = { revoked: true };
    jest.advanceTimersByTime(5000);
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_revoked' });
  });

  it('counts the time from the query, so that a slow answer does not prolong the life of a revoked key', async () => {
    const auth = authenticator();
    const key = newApiKey();
    let answer!: () => void;
    answerAfter = new Promise((resolve) => (answer = resolve));
    const authenticating = auth.authenticate(key);
    await new Promise(setImmediate); // the query is in flight, and has read the key as valid
    row = { revoked: true };
    jest.advanceTimersByTime(4000);
    answer();
    await authenticating;
    jest.advanceTimersByTime(1000);
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_revoked' });
  });

  it('refuses a cached key as soon as it expires', async () => {
    const auth = authenticator();
    const key = newApiKey();
    row = { validMs: 1500 };
    await auth.authenticate(key);
    row = { validMs: -1 };
    jest.advanceTimersByTime(1500);
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_expired' });
  });

  it('does not keep an answer that was in flight when the key was forgotten', async () => {
    const auth = authenticator();
    const key = newApiKey();
    let answer!: () => void;
    answerAfter = new Promise((resolve) => (answer = resolve));
    const authenticating = auth.authenticate(key);
    await new Promise(setImmediate);
    row = { revoked: true };
    auth.forget(['key_1']);
    answer();
    await authenticating; // it was read before the revocation
    await expect(auth.authenticate(key)).rejects.toMatchObject({ code: 'api_key_revoked' });
  });

  it('keeps valid keys during 10,001 requests with unknown ones', async () => {
    const auth = authenticator();
    const key = newApiKey();
    await auth.authenticate(key);
    row = null;
    const refused = await Promise.allSettled(
      Array.from({ length: 10_001 }, async () => auth.authenticate(newApiKey())),
    );
    expect(refused.every(({ status }) => status === 'rejected')).toBe(true);
    queried.mockClear();
    await auth.authenticate(key);
    expect(queried).not.toHaveBeenCalled();
  });

  it('sends one query for concurrent requests with the same key', async () => {
    const auth = authenticator();
    const key = newApiKey();
    await Promise.all(Array.from({ length: 50 }, () => auth.authenticate(key)));
    expect(queried).toHaveBeenCalledTimes(1);
  });

  it('forgets 5,000 keys in one pass over the cache, and drops the stale entries of unknown keys', async () => {
    const auth = authenticator();
    row = null;
    await Promise.allSettled(Array.from({ length: 10_000 }, async () => auth.authenticate(newApiKey())));
    expect(auth['keys']['refused'].size).toBe(10_000);
    jest.advanceTimersByTime(5_000);
    const passes = jest.spyOn(auth['keys']['refused'], Symbol.iterator);
    auth.forget(Array.from({ length: 5_000 }, (_, nth) => `key_${nth}`));
    expect(passes).toHaveBeenCalledTimes(1);
    expect(auth['keys']['refused'].size).toBe(0);
  });
});
