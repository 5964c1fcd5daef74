import { serverAudits } from 'graphql-http';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { getIntrospectionQuery, getOperationAST, parse } from 'graphql';
import { planOf } from '../../src/platform/graphql/query-plan.ts';
import { aCat, aFailure, aHang, type ErrorBody } from '../support/clients/api.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';

const CREATE = `mutation Create($input: CreateGenerationInput!, $key: String) {
  createGeneration(input: $input, idempotencyKey: $key) {
    taskId object kind model status progress createdAt completedAt startedAt expiresAt input metadata
    result { expiresAt } error { code } approximations { param }
  }
}`;
interface Created {
  createGeneration: Record<string, unknown> & { taskId: string };
}
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
  let service: InProcess;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await startInProcess();
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

  describe('reads', () => {
    it('one model and all models, as in REST', async () => {
      const { data } = await graphql.ask<{ models: { id: string }[]; model: object }>(
        '{ models { id } model(id: "sora-2") { id object ownedBy kind available parameters lifecycle { status } } }',
      );
      const rest = await service.api.get<{ data: { id: string }[] }>('/v1/models');
      expect(data.models.map(({ id }) => id)).toEqual(rest.body.data.map(({ id }) => id));
      const one = await service.api.get<Record<string, unknown>>('/v1/models/sora-2');
      expect(data.model).toEqual({
        id: 'sora-2',
        object: 'model',
        ownedBy: one.body.owned_by,
        kind: 'VIDEO',
        available: true,
        parameters: one.body.parameters,
        lifecycle: { status: 'ACTIVE' },
      });
    });

    it('the API key of the caller', async () => {
      const { key, id } = await anotherKey(service.api, { scopes: ['tasks:read'], limits: { reads_per_minute: 77 } });
      const { data } = await new GraphqlClient(service.baseUrl, key).ask(
        '{ viewer { id name scopes key endpoint limits { readsPerMinute } } }',
      );
      expect(data).toEqual({
        viewer: {
          id,
          name: 'another',
          scopes: ['TASKS_READ'],
          key: null,
          endpoint: service.baseUrl,
          limits: { readsPerMinute: 77 },
        },
      });
    });

    it('a task, with every field as in REST', async () => {
      const { body } = await service.api.create({ ...aCat, n: 2, metadata: { a: 'b' } }, { prefer: 'wait=30' });
      const { data } = await graphql.ask<{ task: { result: { outputs: object[] } } }>(
        `query ($id: String!) { task(taskId: $id) {
          taskId object kind model status progress createdAt completedAt startedAt expiresAt input metadata
          error { code } approximations { param }
          result { expiresAt outputs { id index type url urlExpiresAt contentType sizeBytes width height duration sha256 } }
        } }`,
        { id: body.task_id },
      );
      const { result, ...task } = data.task;
      expect(task).toEqual({
        taskId: body.task_id,
        object: 'task',
        kind: 'IMAGE',
        model: 'gpt-image-2',
        status: 'SUCCEEDED',
        progress: 100,
        createdAt: body.created_at,
        completedAt: body.completed_at,
        startedAt: body.started_at,
        expiresAt: body.expires_at,
        input: body.input,
        metadata: { a: 'b' },
        error: null,
        approximations: null,
      });
      expect(result.outputs).toHaveLength(2);
      const [first] = body.result!.outputs;
      expect(result.outputs[0]).toMatchObject({
        id: first!.id,
        type: 'IMAGE',
        sizeBytes: first!.size_bytes,
        sha256: first!.sha256,
        duration: null,
      });
      expect((await fetch((result.outputs[0] as { url: string }).url)).status).toBe(200);
    });

    it('pages of tasks with cursors and filters', async () => {
      const metadata = { batch: 'pages' };
      const made: string[] = [];
      for (let at = 0; at < 5; at++) {
        const { body } = await service.api.create({ ...aFailure, metadata }, { prefer: 'wait=30' });
        made.unshift(body.task_id);
      }
      const seen: string[] = [];
      let after: string | null = null;
      for (const [count, more] of [
        [2, true],
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

      const count = async (filter: object) => (await graphql.ask<Listed>(LIST, { filter })).data.tasks.edges.length;
      expect(await count({ metadata, status: 'FAILED', kind: 'IMAGE', model: 'gpt-image-2' })).toBe(5);
      expect(await count({ metadata, status: 'SUCCEEDED' })).toBe(0);
      expect(await count({ metadata, createdAfter: Math.floor(Date.now() / 1000) + 10 })).toBe(0);
      expect(await count({ metadata, createdBefore: Math.floor(Date.now() / 1000) + 10 })).toBe(5);
    });

    it('an empty page has no cursors', async () => {
      const { data } = await graphql.ask<Listed>(LIST, { filter: { metadata: { no: 'such' } } });
      expect(data.tasks).toEqual({
        edges: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });
  });

  describe('writes', () => {
    it('creates a task that REST reads', async () => {
      const input = {
        model: 'gpt-image-2',
        prompt: 'A dog',
        aspectRatio: '3:2',
        referenceImages: [],
        metadata: { a: 'b' },
      };
      const { data } = await graphql.ask<Created>(CREATE, { input });
      expect(data.createGeneration).toMatchObject({
        status: 'QUEUED',
        progress: 0,
        completedAt: 0,
        startedAt: 0,
        result: null,
      });
      const { body } = await service.api.get(`/v1/tasks/${data.createGeneration.taskId}`);
      expect(body.input).toMatchObject({ prompt: 'A dog', aspect_ratio: '3:2', resolution: '1K', n: 1 });
    });

    it('shares the idempotency keys of REST, both ways', async () => {
      const rest = await service.api.create({ ...aFailure, aspect_ratio: '3:2' }, { 'idempotency-key': 'shared-1' });
      const input = { ...aFailure, aspectRatio: '3:2' };
      const { data } = await graphql.ask<Created>(CREATE, { input, key: 'shared-1' });
      expect(data.createGeneration).toMatchObject({ taskId: rest.body.task_id, status: 'QUEUED' });

      const first = await graphql.ask<Created>(CREATE, { input, key: 'shared-2' });
      const again = await service.api.create({ ...aFailure, aspect_ratio: '3:2' }, { 'idempotency-key': 'shared-2' });
      expect([again.body.task_id, again.headers.get('idempotent-replayed')]).toEqual([
        first.data.createGeneration.taskId,
        'true',
      ]);

      const other = await graphql.ask(CREATE, { input: aCat, key: 'shared-2' });
      expect(other.errors![0]!.extensions).toMatchObject({ code: 'idempotency_key_reused', param: 'Idempotency-Key' });
    });

    it('cancels', async () => {
      const { body } = await service.api.create(aHang);
      const { data } = await graphql.ask(
        'mutation ($id: String!) { cancelTask(taskId: $id) { status progress error { code retryable } } }',
        { id: body.task_id },
      );
      expect(data).toEqual({
        cancelTask: { status: 'FAILED', progress: 0, error: { code: 'TASK_CANCELLED', retryable: false } },
      });
    });
  });

  describe('fails', () => {
    it.each([
      [{ ...aCat, aspect_ratio: '7:7' }],
      [{ ...aCat, n: 11 }],
      [{ ...aCat, prompt: ' ' }],
      [{ ...aCat, model: 'dall-e' }],
      [{ ...aCat, duration: 5 }],
      [{ ...aCat, resolution: null }],
      [{ ...aCat, reference_images: ['https://example.com/a.png', 'ftp://x'] }],
      [{ ...aCat, reference_images: ['http://10.0.0.1/a.png'] }],
      [{ ...aCat, metadata: { a: 1 } }],
    ])('as REST does, with the same code and param: %j', async (body) => {
      const rest = await service.api.create<ErrorBody>(body);
      const input = Object.fromEntries(
        Object.entries(body).map(([name, value]) => [
          name.replaceAll(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
          value,
        ]),
      );
      const { errors, headers } = await graphql.ask(CREATE, { input });
      const { code, param, request_id } = errors![0]!.extensions;
      expect({ code, param }).toEqual({ code: rest.body.error.code, param: rest.body.error.param });
      expect(request_id).toBe(headers.get('x-request-id'));
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

  it.each([
    ['a poll', '{ task(taskId: "x") { __typename id taskId status result { outputs { url } } error { code } } }'],
    ['a list', LIST],
  ])('has a plan for %s', (_, text) => {
    const { schema } = service.app.get(GraphQLSchemaHost);
    const document = parse(text);
    expect(planOf(schema, document, getOperationAST(document)!)).not.toBeNull();
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

describe('GraphQL without introspection', () => {
  let service: InProcess;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await startInProcess({ GRAPHQL_INTROSPECTION: 'off' });
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
});
