import { serverAudits } from 'graphql-http';
import { getIntrospectionQuery } from 'graphql';
import { aCat, aFailure, aHang, Api } from '../support/clients/api.ts';
import { joinService, type SharedService } from '../support/service.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { Scrape } from '../support/metrics.ts';

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
      ['lines', `${'\n'.repeat(5_000)}{ viewer { id } }`],
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

    it.each([
      ['refused', '{ nothing }', {}],
      ['that no resolver answers', '{ __typename }', {}],
      ['of an event stream', '{ nothing }', { accept: 'text/event-stream' }],
    ])('admits 20 documents a minute %s, if the key has fewer reads', async (_, query, headers) => {
      const { key } = await anotherKey(service.api, { limits: { reads_per_minute: 2 } });
      const isOver = async () => {
        const reply = await fetch(new URL('/graphql', service.baseUrl), {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ query }),
        });
        return (await reply.text()).includes('rate_limit_exceeded');
      };
      for (let nth = 0; nth < 20; nth++) expect([nth, await isOver()]).toEqual([nth, false]);
      expect(await isOver()).toBe(true);
      expect((await new Api(service.baseUrl, key).create(aFailure)).status).toBe(201);
    });

    it('counts a document that a resolver answers only there', async () => {
      const { key } = await anotherKey(service.api, { limits: { reads_per_minute: 2, creates_per_minute: 100 } });
      const client = new GraphqlClient(service.baseUrl, key);
      for (let nth = 0; nth < 25; nth++)
        expect((await client.ask(CREATE, { input: { ...aFailure } })).errors).toBeUndefined();
    });

    it('admits as many over a socket, whatever is wrong with them', async () => {
      const { key } = await anotherKey(service.api, { limits: { reads_per_minute: 20 } });
      const client = new GraphqlClient(service.baseUrl, key);
      const socket = client.socket();
      const isOver = async (query: string) => {
        const ended = await client.follow(query, {}, socket).ended.then(
          () => 'answered',
          (errors: unknown) => JSON.stringify(errors),
        );
        return ended.includes('rate_limit_exceeded');
      };
      const documents = [
        '{ __schema { queryType { name } } }',
        '{ nothing }',
        '{ __typename }',
        'query A { __typename } query B { __typename }',
        'subscription ($id: String!) { taskUpdated(taskId: $id) { taskId } }',
      ];
      for (let nth = 0; nth < 4; nth++)
        for (const query of documents) expect([query, await isOver(query)]).toEqual([query, false]);
      for (const query of documents) expect([query, await isOver(query)]).toEqual([query, true]);
      await client.close();
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

const TASK = 'query Task($id: String!) { task(taskId: $id) { taskId status result { outputs { id } } } }';
const TWO = 'query One { viewer { id } } query Other { viewer { name } }';

/** The document of the first request is kept with its plan. Later requests use both, and their answers must not differ. */
describe('a query that is sent again', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  let taskId: string;
  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
    ({ task_id: taskId } = (await service.api.create({ ...aCat }, { prefer: 'wait=30' })).body);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });

  async function post(body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(new URL('/graphql', service.baseUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...graphql.authorization(), ...headers },
      body: JSON.stringify(body),
    });
    const { ratelimit: _counted, 'x-request-id': _id, date: _date, ...rest } = Object.fromEntries(response.headers);
    return { status: response.status, headers: rest, text: await response.text() };
  }
  const ask = (id: unknown, headers?: Record<string, string>) => post({ query: TASK, variables: { id } }, headers);
  const operations = async (outcome: string) =>
    (await Scrape.of(service.baseUrl)).value('darkroom_graphql_operation_duration_seconds_count', {
      graphql_operation_type: 'query',
      outcome,
    }) ?? 0;

  it('has the same status, headers and body, and is counted', async () => {
    const first = await ask(taskId);
    const countedBefore = await operations('ok');
    const again = await ask(taskId);
    expect(again).toEqual(first);
    expect(first.status).toBe(200);
    expect(JSON.parse(first.text)).toMatchObject({ data: { task: { taskId, status: 'SUCCEEDED' } } });
    expect((await operations('ok')) - countedBefore).toBe(1);
  });

  it('reads the task again', async () => {
    const { body } = await service.api.create(aHang);
    expect((await ask(body.task_id)).text).not.toContain('FAILED');
    await service.api.cancel(body.task_id);
    expect((await ask(body.task_id)).text).toContain('FAILED');
  });

  it('has the form that it accepts', async () => {
    const types = ['application/graphql-response+json', 'application/json'];
    for (const accept of types.flatMap((type) => [type, type]))
      expect((await ask(taskId, { accept })).headers['content-type']).toContain(accept);
    for (let at = 0; at < 2; at++) {
      const refused = await post({ query: `${TASK} # of its own`, variables: { id: taskId } }, { accept: 'image/png' });
      expect(refused.status).toBe(406);
    }
  });

  it('of several operations is the one it names', async () => {
    const named = (operationName?: string) => post({ query: TWO, operationName });
    for (let at = 0; at < 2; at++) {
      expect((await named('One')).text).toContain('"id"');
      expect((await named('Other')).text).toContain('"name"');
      expect((await named()).status).toBe(400);
    }
  });

  it('is refused for variables, extensions and ids as before', async () => {
    await ask(taskId);
    expect((await ask(7)).text).toContain('"errors"');
    expect((await post({ query: TASK })).text).toContain('"errors"');
    expect((await post({ query: TASK, variables: [taskId] })).status).toBe(400);
    expect((await post({ query: TASK, variables: `{"id":"${taskId}"}` })).status).toBe(400);
    const persistedQuery = { version: 1, sha256Hash: '0'.repeat(64) };
    const extended = await post({ query: TASK, variables: { id: taskId }, extensions: { persistedQuery } });
    expect(extended.text).toContain('PersistedQueryNotSupported');
    const unknown = await ask('task_01jd8e5t9kf3qs7m2v4xw6yzab');
    expect(JSON.parse(unknown.text)).toMatchObject({ errors: [{ extensions: { code: 'task_not_found' } }] });
  });

  it('reads what is below a root field no more often when another one fails', async () => {
    const query = `query Some($id: String!) { task(taskId: $id) { taskId } tasks { edges { node { children { edges { cursor } } } } } }`;
    const reads = async (id: string) => {
      const count = async () =>
        (await Scrape.of(service.baseUrl)).value('darkroom_batch_items_sum', { batch: 'tasks.children' }) ?? 0;
      const before = await count();
      expect((await post({ query, variables: { id } })).status).toBe(200);
      return (await count()) - before;
    };
    expect(await reads(taskId)).toBeGreaterThan(0);
    const once = await reads(taskId);
    // The plan gives up at the error, and graphql-js reads once more.
    expect(await reads('task_01jd8e5t9kf3qs7m2v4xw6yzab')).toBe(2 * once);
  });

  it('needs its own key and scope', async () => {
    await ask(taskId);
    expect((await ask(taskId, { authorization: 'Bearer sk_wrong' })).text).toContain('invalid_api_key');
    const { key } = await anotherKey(service.api, { scopes: ['generations:write'] });
    expect((await ask(taskId, { authorization: `Bearer ${key}` })).text).toContain('insufficient_scope');
    const other = await anotherKey(service.api, { scopes: ['tasks:read'] });
    expect((await ask(taskId, { authorization: `Bearer ${other.key}` })).text).toContain('task_not_found');
  });
});
