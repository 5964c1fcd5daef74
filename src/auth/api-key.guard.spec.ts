import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { currentRequest, type ServedRequest } from '../platform/observe/logging/request-context.ts';
import { loadConfig } from '../platform/config/config.ts';
import type { Sql, Statement } from '../platform/database/sql.ts';
import { CountsAs, type GuardedRequest, Public, RequireScope } from './access/access.ts';
import { newApiKey } from './credentials/api-key-format.ts';
import { ApiKeyGuard } from './api-key.guard.ts';
import { Authenticator } from './credentials/authenticator.ts';
import { Credentials } from './credentials/credential.ts';
import type { KeyHashes } from './credentials/key-hashes.ts';
import { LastUse } from './credentials/last-use.ts';
import { DocumentRates } from './limits/document-rates.ts';
import { RateLimits } from './limits/rate-limits.ts';

class Resolver {
  @RequireScope('tasks:read') task() {}
  @RequireScope('generations:write') @CountsAs('create') create() {}
  @Public() open() {}
}

/** Returns the same key for every hash, with an unused rate limit. */
const sql = {
  run: async ({ name }: Statement, [first, buckets, points]: [unknown[], unknown[], unknown[]]) =>
    name === 'auth.find_by_hashes'
      ? first.map((hash) => ({ hash, id: 'key_1', scopes: ['tasks:read'], limits: {}, bounds: [], validMs: null }))
      : [{ apiKeyId: first[0], bucket: buckets[0], taken: points[0], msLeft: 60_000 }],
} as unknown as Sql;
const hashes = { of: (key: string) => [Buffer.from(key)], noteUse: () => undefined } as unknown as KeyHashes;
const authenticator = new Authenticator(loadConfig({}), hashes, new LastUse(sql), sql);
const rates = new RateLimits(sql);
const guard = new ApiKeyGuard(
  new Reflector(),
  authenticator,
  rates,
  new Credentials(loadConfig({})),
  new DocumentRates(rates),
);
const activate = async (context: ExecutionContext) => guard.canActivate(context);
const bearer = `Bearer ${newApiKey()}`;

/** The context that Nest passes to a guard before a GraphQL resolver. */
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

describe('the guard for GraphQL', () => {
  it('reads the key from the request of the context, stores the caller there, and sets the reply headers', async () => {
    const request: GuardedRequest = { headers: { authorization: bearer } };
    const headers: Record<string, string> = {};
    const reply = { header: (name: string, value: string) => (headers[name] = value) };
    expect(await guard.canActivate(graphql('task', { request, reply }))).toBe(true);
    expect(request.caller?.apiKeyId).toBe('key_1');
    expect(Object.keys(headers)).toEqual(['ratelimit-policy', 'ratelimit']);
  });

  it('works without a reply, as over a socket', async () => {
    const request: GuardedRequest = { headers: { authorization: bearer } };
    expect(await guard.canActivate(graphql('task', { request }))).toBe(true);
  });

  it('refuses a missing key and a missing scope, as over REST', async () => {
    const without = graphql('task', { request: { headers: {} } });
    await expect(activate(without)).rejects.toMatchObject({ code: 'missing_api_key' });
    const lacking = graphql('create', { request: { headers: { authorization: bearer } } });
    await expect(activate(lacking)).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  it('admits requests without a key to public fields', async () => {
    expect(await guard.canActivate(graphql('open', { request: { headers: {} } }))).toBe(true);
  });
});

describe('whose share of the connections a request uses', () => {
  const shareOf = (field: 'task' | 'open', request: GuardedRequest) => {
    const served: ServedRequest = { id: 'req_1' };
    return currentRequest.run(
      served,
      async () => (await guard.canActivate(graphql(field, { request }))) && served.shareOf,
    );
  };

  it('is that of its API key', async () => {
    expect(await shareOf('task', { headers: { authorization: bearer }, ip: '192.0.2.1' })).toBe('key_1');
  });

  it('is that of its address where no key is needed', async () => {
    expect(await shareOf('open', { headers: {}, ip: '192.0.2.1' })).toBe('address 192.0.2.1');
  });
});
