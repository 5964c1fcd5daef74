import { joinService, type SharedService } from '../support/service.ts';
import { Api } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

interface KeyBody {
  id: string;
  key: string;
  name: string;
  scopes: string[];
  expiresAt: number | null;
  limits: { createsPerMinute: number; maxRunning: number };
}

describe('API keys in GraphQL', () => {
  let service: SharedService;
  let admin: GraphqlClient;

  beforeAll(async () => {
    service = await joinService();
    admin = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(() => service.close());

  const FIELDS = 'id key name scopes expiresAt limits { createsPerMinute maxRunning }';
  const mutate = async (call: string, client = admin) => {
    const { data, errors } = await client.ask<Record<string, KeyBody>>(`mutation { result: ${call} }`);
    return { key: data?.result as KeyBody, error: errors?.[0]?.extensions };
  };

  it('are created, changed, rotated and revoked as over REST', async () => {
    const expiresAt = 4_000_000_000; // past 2^31
    const { key: made } = await mutate(
      `createApiKey(input: { name: "shop", scopes: [TASKS_READ], expiresAt: ${expiresAt}, limits: { maxRunning: 3 } }) { ${FIELDS} }`,
    );
    expect(made).toMatchObject({ name: 'shop', scopes: ['TASKS_READ'], expiresAt, limits: { maxRunning: 3 } });
    expect((await new Api(service.baseUrl, made.key).get('/v1/tasks')).status).toBe(200);
    expect((await service.api.get(`/v1/api_keys/${made.id}`)).body).toMatchObject({
      name: 'shop',
      expires_at: expiresAt,
    });

    const { key: changed } = await mutate(
      `updateApiKey(id: "${made.id}", input: { name: "store", expiresAt: null, limits: { maxRunning: null, createsPerMinute: 7 } }) { ${FIELDS} }`,
    );
    expect(changed).toMatchObject({ name: 'store', expiresAt: null, key: null, limits: { createsPerMinute: 7 } });
    expect(changed.limits.maxRunning).not.toBe(3);
    const { key: reset } = await mutate(`updateApiKey(id: "${made.id}", input: { limits: null }) { ${FIELDS} }`);
    expect(reset).toMatchObject({ name: 'store', limits: { createsPerMinute: 0 } });

    const { key: rotated } = await mutate(`rotateApiKey(id: "${made.id}", overlapHours: 1) { ${FIELDS} }`);
    for (const secret of [made.key, rotated.key]) {
      expect((await new Api(service.baseUrl, secret).get('/v1/tasks')).status).toBe(200);
    }
    expect((await mutate(`revokeApiKey(id: "${made.id}") { id }`)).key).toEqual({ id: made.id });
    expect((await new Api(service.baseUrl, rotated.key).get('/v1/tasks')).status).toBe(401);
  });

  it('are listed newest first, in pages', async () => {
    for (const name of ['a', 'b', 'c']) await mutate(`createApiKey(input: { name: "${name}" }) { id }`);
    const names: string[] = [];
    for (let after: string | null = null; names.length < 4;) {
      const page: Page = (
        await admin.ask<{ apiKeys: Page }>(
          'query ($after: String) { apiKeys(first: 2, after: $after) { edges { node { name key } } pageInfo { endCursor } } }',
          { after },
        )
      ).data.apiKeys;
      names.push(...page.edges.map(({ node }) => node.name));
      expect(page.edges.every(({ node }) => node.key === null)).toBe(true);
      after = page.pageInfo.endCursor;
    }
    expect(names).toEqual(['c', 'b', 'a', expect.stringContaining('api-keys-graphql')]); // and those of other tests
  });

  it('grant no more than the asking key has', async () => {
    const { key: manager } = await mutate(
      `createApiKey(input: { name: "manager", scopes: [KEYS_MANAGE, TASKS_READ] }) { ${FIELDS} }`,
    );
    const client = new GraphqlClient(service.baseUrl, manager.key);
    const { error } = await mutate('createApiKey(input: { name: "more", scopes: [TASKS_CANCEL] }) { id }', client);
    expect(error).toMatchObject({ code: 'insufficient_scope', param: 'scopes' });
    expect(
      (await mutate('createApiKey(input: { name: "same", scopes: [TASKS_READ] }) { id }', client)).error,
    ).toBeUndefined();
  });

  it.each([
    ['apiKey(id: "unknown") { id }', 'query', 'api_key_not_found'],
    ['apiKeys(after: "x") { edges { cursor } }', 'query', 'invalid_value'],
    ['rotateApiKey(id: "unknown", overlapHours: 169) { id }', 'mutation', 'value_out_of_range'],
    ['createApiKey(input: { name: " " }) { id }', 'mutation', 'invalid_value'],
    ['createApiKey(input: { name: "x", expiresAt: 1 }) { id }', 'mutation', 'value_out_of_range'],
  ])('%s is refused', async (call, type, code) => {
    const { errors } = await admin.ask(`${type} { ${call} }`);
    expect(errors?.[0]?.extensions.code).toBe(code);
  });
});

interface Page {
  edges: { node: { name: string; key: string | null } }[];
  pageInfo: { endCursor: string | null };
}
