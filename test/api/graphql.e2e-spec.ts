import { serverAudits } from 'graphql-http';
import { getIntrospectionQuery } from 'graphql';
import { aCat, aFailure, aHang } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { joinService, type OwnService, type SharedService, startOwnService } from '../support/service.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { eventually } from '../support/wait.ts';

const CREATE = 'mutation Create($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId } }';
const LIST = `query List($first: Int, $after: String, $filter: TaskFilter) {
  tasks(first: $first, after: $after, filter: $filter) {
    edges { cursor node { taskId status } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;
interface Listed {
  tasks: {
    edges: { cursor: string; node: { taskId: string } }[];
    pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  };
}

describe('GraphQL', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });
  const post = (body: string, headers: object = {}) =>
    fetch(new URL('/graphql', service.baseUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...graphql.authorization(), ...headers },
      body,
    });

  describe('pages', () => {
    it('have cursors, and follow the filter', async () => {
      const metadata = { batch: 'pages' };
      const made: string[] = [];
      for (let at = 0; at < 3; at++) {
        const { body } = await service.api.create({ ...aFailure, metadata }, { prefer: 'wait=30' });
        made.unshift(body.task_id);
      }
      const seen: string[] = [];
      let after: string | null = null;
      for (const [count, more] of [
        [2, true],
        [1, false],
      ] as const) {
        const answer: { data: Listed } = await graphql.ask<Listed>(LIST, { first: 2, after, filter: { metadata } });
        const { edges, pageInfo } = answer.data.tasks;
        expect(edges).toHaveLength(count);
        expect(pageInfo).toEqual({
          hasNextPage: more,
          hasPreviousPage: after !== null,
          startCursor: edges[0]!.cursor,
          endCursor: edges.at(-1)!.cursor,
        });
        seen.push(...edges.map(({ node }) => node.taskId));
        after = pageInfo.endCursor;
      }
      expect(seen).toEqual(made);
    });

    it('without entries have no cursors', async () => {
      const { data } = await graphql.ask<Listed>(LIST, { filter: { metadata: { no: 'such' } } });
      expect(data.tasks).toEqual({
        edges: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });
  });

  describe('fails', () => {
    it('with the id of the request', async () => {
      const { errors, headers } = await graphql.ask(CREATE, { input: { ...aCat, n: 11 } });
      expect(errors![0]!.extensions).toMatchObject({ code: 'value_out_of_range', type: 'invalid_request_error' });
      expect(errors![0]!.extensions.request_id).toBe(headers.get('x-request-id'));
    });

    it('with a code for what the schema itself refuses', async () => {
      const code = async (input: object) => (await graphql.ask(CREATE, { input })).errors![0]!.extensions;
      expect(await code({ model: 'gpt-image-2' })).toMatchObject({
        code: 'missing_required_parameter',
        param: 'prompt',
      });
      expect(await code({ ...aCat, tail: 1 })).toMatchObject({ code: 'unknown_parameter', param: 'tail' });
      expect(await code({ ...aCat, n: '2' })).toMatchObject({ code: 'invalid_type', param: 'n' });
    });

    it('in the same way for an unknown, a malformed and a foreign task', async () => {
      const { key } = await anotherKey(service.api);
      const { body } = await service.api.create(aFailure);
      const ask = async (client: GraphqlClient, id: string) => {
        const { data, errors } = await client.ask('query ($id: String!) { task(taskId: $id) { taskId } }', { id });
        return [data, errors?.[0]?.message, errors?.[0]?.extensions.code, errors?.[0]?.path];
      };
      const unknown = [null, 'No task of yours has this id.', 'task_not_found', ['task']];
      expect(await ask(graphql, 'task_01jd8e5t9kf3qs7m2v4xw6yzab')).toEqual(unknown);
      expect(await ask(graphql, 'nonsense\u0001')).toEqual(unknown);
      expect(await ask(new GraphqlClient(service.baseUrl, key), body.task_id)).toEqual(unknown);
    });

    it('without a key, with a wrong one, and without the scope', async () => {
      const code = async (key: string | null, query: string) =>
        (await new GraphqlClient(service.baseUrl, key).ask(query)).errors![0]!.extensions.code;
      expect(await code(null, '{ models { id } }')).toBe('missing_api_key');
      expect(await code('dr_nonsense', '{ viewer { id } }')).toBe('invalid_api_key');
      const { key } = await anotherKey(service.api, { scopes: ['webhooks:manage'] });
      expect(await code(key, '{ tasks { edges { cursor } } }')).toBe('insufficient_scope');
      expect(await code(key, 'mutation { createGeneration(input: { model: "sora-2", prompt: "x" }) { taskId } }')).toBe(
        'insufficient_scope',
      );
    });

    it('without the scope operations:read where a mutation returns more than its own scope shows', async () => {
      const { key } = await anotherKey(service.api, { scopes: ['operations:manage'] });
      const manager = new GraphqlClient(service.baseUrl, key);
      const { body } = await service.api.create(aHang);
      const { errors } = await manager.ask(
        `mutation { cancelOperatorTask(taskId: "${body.task_id}") { status timeline { type } } }`,
      );
      expect(errors).toMatchObject([{ extensions: { code: 'insufficient_scope' } }]);
      expect((await service.api.get(`/v1/tasks/${body.task_id}`)).body.status).toBe('failed');
    });

    it('on arguments out of range', async () => {
      const refusal = async (variables: object) => (await graphql.ask(LIST, variables)).errors![0]!.extensions;
      expect(await refusal({ first: 101 })).toMatchObject({ code: 'value_out_of_range', param: 'first' });
      expect(await refusal({ first: 0 })).toMatchObject({ code: 'value_out_of_range', param: 'first' });
      expect(await refusal({ after: 'x' })).toMatchObject({ code: 'invalid_value', param: 'after' });
      expect(await refusal({ filter: { metadata: { a: 1 } } })).toMatchObject({ code: 'invalid_type' });
      expect(await refusal({ filter: { metadata: 'a' } })).toMatchObject({ code: 'invalid_type' });
      expect(await refusal({ filter: { createdAfter: -1 } })).toMatchObject({ code: 'value_out_of_range' });
    });

    it('on texts that the database cannot store', async () => {
      const literal = await graphql.ask('{ tasks(filter: { model: "a\\u0000" }) { edges { cursor } } }');
      expect(literal.errors![0]!.extensions.code).toBe('invalid_unicode');
      const variable = await post(JSON.stringify({ query: LIST, variables: { filter: { model: 'a\0' } } }));
      expect([
        variable.status,
        ((await variable.json()) as { errors: { extensions: { code: string } }[] }).errors[0]!.extensions.code,
      ]).toEqual([400, 'invalid_unicode']);
    });
  });

  describe('protects itself', () => {
    const firstCode = async (reply: Response) => {
      const body = (await reply.json()) as { errors?: { extensions: { code: string; request_id: string } }[] };
      expect(body.errors?.[0]?.extensions.request_id).toBe(reply.headers.get('x-request-id'));
      return [reply.status, body.errors?.[0]?.extensions.code];
    };

    it('reports broken and oversized bodies as GraphQL errors', async () => {
      expect(await firstCode(await post('{'))).toEqual([400, 'invalid_json']);
      expect(await firstCode(await post('{"query":"{a}","query":"{b}"}'))).toEqual([400, 'duplicate_key']);
      expect(await firstCode(await post(JSON.stringify({ query: ' '.repeat(1024 * 1024) })))).toEqual([
        413,
        'payload_too_large',
      ]);
      expect(await firstCode(await post('a=b', { 'content-type': 'application/x-www-form-urlencoded' }))).toEqual([
        415,
        'unsupported_media_type',
      ]);
    });

    it('refuses a Host header that names no host', async () => {
      for (const [host, status] of [
        ['a b', 400],
        ['[::1', 400],
        ['%zz', 400],
        ['[::1]:80', 200],
        ['darkroom.test', 200],
      ]) {
        const answer = await service.api.call<object>('POST', '/graphql', { query: '{ __typename }' }, { host });
        expect([host, answer.status]).toEqual([host, status]);
        if (status === 400) expect(answer.body).toMatchObject({ errors: [{ extensions: { code: 'bad_request' } }] });
      }
    });

    it('refuses batches', async () => {
      const [status] = await firstCode(
        await post(JSON.stringify([{ query: '{ __typename }' }, { query: '{ __typename }' }])),
      );
      expect(status).toBe(400);
    });

    it('refuses requests that a page of another origin could send (CSRF)', async () => {
      const get = (headers: Record<string, string>) =>
        fetch(new URL('/graphql?query={__typename}', service.baseUrl), { headers });
      expect((await get({})).status).toBe(400);
      expect((await get({ 'apollo-require-preflight': 'yes' })).status).toBe(200);
      expect((await get(graphql.authorization())).status).toBe(200);
      const mutation = encodeURIComponent('mutation { cancelTask(taskId: "x") { taskId } }');
      const byGet = await fetch(new URL(`/graphql?query=${mutation}`, service.baseUrl), {
        headers: { ...graphql.authorization(), 'apollo-require-preflight': 'yes' },
      });
      expect(byGet.status).toBe(405);
    });

    it.each([
      ['aliases', `{ viewer { ${Array.from({ length: 31 }, (_, at) => `a${at}: id`).join(' ')} } }`],
      ['root fields', `{ ${Array.from({ length: 21 }, (_, at) => `a${at}: __typename`).join(' ')} }`],
      ['directives', `{ viewer { ${'id @include(if: true) '.repeat(21)} } }`],
      ['tokens', `{ viewer { ${'id '.repeat(1000)} } }`],
      [
        'cost',
        `{ ${Array.from({ length: 12 }, (_, at) => `a${at}: tasks(first: 100) { edges { node { taskId status input metadata kind model progress } } }`).join(' ')} }`,
      ],
    ])('limits the %s of a document', async (_, query) => {
      const { status, errors, data } = await graphql.ask(query);
      expect([status, errors![0]!.extensions.code, data]).toEqual([400, 'invalid_body', undefined]);
    });

    it('counts each root field against the rate limit, and reports the limit in headers', async () => {
      const { key } = await anotherKey(service.api, { limits: { reads_per_minute: 5 } });
      const client = new GraphqlClient(service.baseUrl, key);
      const { headers, errors } = await client.ask('{ a: viewer { id } b: viewer { id } c: models { id } }');
      expect(errors).toBeUndefined();
      expect(headers.get('ratelimit-policy')).toBe('"read";q=5;w=60');
      const over = await client.ask('{ a: viewer { id } b: viewer { id } c: models { id } }');
      expect(over.errors![0]!.extensions.code).toBe('rate_limit_exceeded');
    });

    it('counts each root field once, also in a query with an error', async () => {
      const { key } = await anotherKey(service.api, { limits: { reads_per_minute: 5 } });
      const client = new GraphqlClient(service.baseUrl, key);
      const { data, errors } = await client.ask('{ a: viewer { id } task(taskId: "x") { taskId } b: viewer { id } }');
      expect(data).toBeNull();
      expect(errors!.map(({ extensions }) => extensions.code)).toEqual(['task_not_found']);
      expect((await client.ask('{ a: viewer { id } b: viewer { id } }')).errors).toBeUndefined();
      expect((await client.ask('{ viewer { id } }')).errors![0]!.extensions.code).toBe('rate_limit_exceeded');
    });

    it('refuses subscriptions over HTTP', async () => {
      const { status, errors } = await graphql.ask('subscription { tasksUpdated { taskId } }');
      expect([status, errors![0]!.extensions.code]).toEqual([400, 'bad_request']);
    });

    it('forbids caching', async () => {
      expect((await graphql.ask('{ viewer { id } }')).headers.get('cache-control')).toBe('no-store');
    });
  });

  it('passes the GraphQL-over-HTTP audit with no error, and these warnings only', async () => {
    const audits = serverAudits({
      url: new URL('/graphql', service.baseUrl).href,
      fetchFn: (url: string, init?: RequestInit) =>
        fetch(url, { ...init, headers: { ...(init?.headers as object), ...graphql.authorization() } }),
    });
    const found: Record<string, string[]> = { ok: [], notice: [], warn: [], error: [] };
    for (const audit of audits) found[(await audit.fn()).status]!.push(audit.id);
    expect(found.error).toEqual([]);
    expect(found.warn!.toSorted()).toEqual(['572B', '7B9B', 'FDE2']);
    expect(found.ok!.length).toBeGreaterThan(50);
  });

  it('shows schema and page while introspection is on', async () => {
    const { data } = await graphql.ask<{ __schema: object }>(getIntrospectionQuery());
    expect(data.__schema).toBeDefined();
    const page = await fetch(new URL('/graphiql', service.baseUrl));
    const html = await page.text();
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    for (const [, address] of html.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)) {
      expect(address).toMatch(/^graphiql\//);
      expect((await fetch(new URL(`/${address}`, service.baseUrl))).status).toBe(200);
    }
  });
});

/** A service of its own, because of the setting, and because the last test stops it. */
describe('GraphQL without introspection', () => {
  let service: OwnService;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await startOwnService({ GRAPHQL_INTROSPECTION: 'off' });
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });

  it('hides the schema, suggestions and the page, over the socket too', async () => {
    const { errors } = await graphql.ask('{ __schema { types { name } } }');
    expect(errors).toHaveLength(1);
    const misspelt = await graphql.ask('{ tasc { taskId } viewr { id } }');
    expect(misspelt.errors!.map(({ message }) => message)).toEqual([
      'Cannot query field "tasc" on type "Query".',
      'Cannot query field "viewr" on type "Query".',
    ]);
    expect((await fetch(new URL('/graphiql', service.baseUrl))).status).toBe(404);

    const followed = graphql.follow('{ __schema { types { name } } }');
    await expect(followed.ended).rejects.toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('introspection has been disabled') }),
    );
    const typo = graphql.follow('{ viewr { id } }');
    await expect(typo.ended).rejects.toMatchObject([{ message: 'Cannot query field "viewr" on type "Query".' }]);
  });

  it('still answers queries', async () => {
    const { data } = await graphql.ask<{ __typename: string }>('{ __typename viewer { name } }');
    expect(data).toEqual({ __typename: 'Query', viewer: { name: 'BOOTSTRAP_API_KEY' } });
  });

  it('closes every socket with 1001, and ends event streams, when the service stops', async () => {
    const { body } = await service.api.create(aHang);
    const closes: number[] = [];
    const followed = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const client = graphql.socket({
          on: { closed: (event) => void closes.push((event as { code: number }).code) },
        });
        const one = graphql.follow('subscription ($id: String!) { taskUpdated(taskId: $id) { status } }', { id: body.task_id }, client); // prettier-ignore
        await eventually('the first event', async () => one.events.length > 0);
        return one;
      }),
    );
    const streams = await Promise.all(
      [`/v1/tasks/${body.task_id}/events`, '/v1/events'].map((path) =>
        EventReader.open(service.baseUrl, path, service.api.key!),
      ),
    );
    await service.close();
    await Promise.allSettled(followed.map((one) => one.ended));
    expect(closes).toEqual([1001, 1001, 1001]);
    await Promise.all(streams.map(({ ended }) => ended));
  });
});
