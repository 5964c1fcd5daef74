import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { loadConfig } from '../platform/config.ts';
import type { Sql, Statement } from '../platform/database/sql.ts';
import { Secrets } from '../platform/secrets.ts';
import { CountsAs, Public, Scope } from './access.ts';
import { newApiKey } from './api-keys/api-key-format.ts';
import { ApiKeyGuard } from './api-key.guard.ts';
import { Authenticator } from './authenticator.ts';
import type { GuardedRequest } from './guarded-request.ts';
import { LastUse } from './last-use.ts';
import { RateLimits } from './rate-limits/rate-limits.ts';

class Resolver {
  @Scope('tasks:read') task() {}
  @Scope('generations:write') @CountsAs('create') create() {}
  @Public() open() {}
}

/** Knows every key as one and the same, which has used nothing up. */
const sql = {
  run: async ({ name }: Statement, [first, buckets, points]: [unknown[], unknown[], unknown[]]) =>
    name === 'auth.find_by_hashes'
      ? first.map((hash) => ({ hash, id: 'key_1', scopes: ['tasks:read'], limits: {}, validMs: null }))
      : [{ apiKeyId: first[0], bucket: buckets[0], taken: points[0], msLeft: 60_000 }],
} as unknown as Sql;
const authenticator = new Authenticator(loadConfig({}), new Secrets(Buffer.alloc(32)), new LastUse(sql), sql);
const guard = new ApiKeyGuard(new Reflector(), authenticator, new RateLimits(sql));
const asked = async (context: ExecutionContext) => guard.canActivate(context);
const bearer = `Bearer ${newApiKey()}`;

/** What Nest hands a guard before a GraphQL resolver. */
function graphql(
  field: 'task' | 'create' | 'open',
  context: { request: GuardedRequest; reply?: object },
): ExecutionContext {
  return {
    getType: () => 'graphql',
    getArgByIndex: (index: number) => [undefined, {}, context, {}][index],
    getHandler: () => Resolver.prototype[field],
    getClass: () => Resolver,
  } as unknown as ExecutionContext;
}

describe('the guard before GraphQL', () => {
  it('finds the key in the request of the context, leaves the caller there, and sets the headers of the reply', async () => {
    const request: GuardedRequest = { headers: { authorization: bearer } };
    const headers: Record<string, string> = {};
    const reply = { header: (name: string, value: string) => (headers[name] = value) };
    expect(await guard.canActivate(graphql('task', { request, reply }))).toBe(true);
    expect(request.caller?.apiKeyId).toBe('key_1');
    expect(Object.keys(headers)).toEqual(['ratelimit-policy', 'ratelimit']);
  });

  it('does without a reply, as over a socket', async () => {
    const request: GuardedRequest = { headers: { authorization: bearer } };
    expect(await guard.canActivate(graphql('task', { request }))).toBe(true);
  });

  it('refuses as over REST: no key, no scope', async () => {
    const without = graphql('task', { request: { headers: {} } });
    await expect(asked(without)).rejects.toMatchObject({ code: 'missing_api_key' });
    const lacking = graphql('create', { request: { headers: { authorization: bearer } } });
    await expect(asked(lacking)).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  it('lets anybody at what is public', async () => {
    expect(await guard.canActivate(graphql('open', { request: { headers: {} } }))).toBe(true);
  });
});
