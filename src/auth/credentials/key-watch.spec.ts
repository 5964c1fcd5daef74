import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import type { Authenticator } from './authenticator.ts';
import type { Caller, Scope } from '../access/caller.ts';
import { KeyWatch } from './key-watch.ts';

const HEADER = 'Bearer dr_x';
const RECHECK_MS = 2_000;

/** What every check of the key throws; null: it is good. */
let refusal: ApiError | null;
let scopes: Scope[];
let keys: KeyWatch;

beforeEach(() => {
  Logger.overrideLogger(false);
  jest.useFakeTimers();
  refusal = null;
  scopes = ['tasks:read', 'webhooks:manage'];
  const authenticateCredential = async () => {
    if (refusal) throw refusal;
    return { apiKeyId: 'key_1', scopes } as unknown as Caller;
  };
  keys = new KeyWatch({ authenticateCredential, forget: () => undefined } as unknown as Authenticator);
});
afterEach(() => {
  keys.onApplicationShutdown();
  jest.useRealTimers();
});

describe('the watch over the keys of open connections', () => {
  it('closes every connection of a refused key once, also when closing one of them throws', async () => {
    const closed: string[] = [];
    await keys.admit(HEADER, () => {
      throw new Error('broken');
    });
    await keys.admit(HEADER, ({ code }) => closed.push(code));
    refusal = new ApiError('api_key_revoked');
    await jest.advanceTimersByTimeAsync(RECHECK_MS * 2);
    expect(closed).toEqual(['api_key_revoked']);
  });

  it('closes a connection once the key lacks the scope that it needs, or any scope that it had', async () => {
    const closed: string[] = [];
    await keys.admit(HEADER, ({ message }) => closed.push(`reader: ${message}`), 'tasks:read');
    await keys.admit(HEADER, ({ message }) => closed.push(`socket: ${message}`));
    scopes = ['tasks:read', 'generations:write'];
    await jest.advanceTimersByTimeAsync(RECHECK_MS * 2);
    expect(closed).toEqual(['socket: This API key lacks the scope "webhooks:manage".']);
    scopes = [];
    await jest.advanceTimersByTimeAsync(RECHECK_MS * 2);
    expect(closed.slice(1)).toEqual(['reader: This API key lacks the scope "tasks:read".']);
    await expect(keys.admit(HEADER, () => undefined, 'tasks:read')).rejects.toMatchObject({
      code: 'insufficient_scope',
    });
  });

  it('goes on with its rechecks after one of them failed', async () => {
    const closed: string[] = [];
    keys['authenticator'].forget = () => {
      throw new Error('broken');
    };
    await keys.admit(HEADER, ({ code }) => closed.push(code));
    await jest.advanceTimersByTimeAsync(RECHECK_MS);
    keys['authenticator'].forget = () => undefined;
    refusal = new ApiError('api_key_revoked');
    await jest.advanceTimersByTimeAsync(RECHECK_MS);
    expect(closed).toEqual(['api_key_revoked']);
  });

  it('answers a waiting request with the refusal, and discards its result', async () => {
    const waiting = keys.whileAdmitted(
      HEADER,
      (refused) => new Promise((resolve) => refused.addEventListener('abort', () => resolve('result'))),
    );
    const outcome = expect(waiting).rejects.toMatchObject({ code: 'api_key_expired' });
    refusal = new ApiError('api_key_expired');
    await jest.advanceTimersByTimeAsync(RECHECK_MS);
    await outcome;
    expect(keys['watched'].size).toBe(0);
  });

  it('returns the result of a request whose key stays good, and watches it no longer', async () => {
    expect(await keys.whileAdmitted(HEADER, async () => 'result')).toBe('result');
    expect(keys['watched'].size).toBe(0);
  });
});
