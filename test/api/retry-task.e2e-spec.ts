import { aCat, aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { joinService, type SharedService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const A_PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('POST /v1/tasks/{task_id}/retry', () => {
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

  const retry = <Body = TaskBody>(id: string, body?: unknown, headers: object = {}) =>
    service.api.call<Body>('POST', `/v1/tasks/${id}/retry`, body, headers);
  const ended = async (request: object) => service.api.untilFinal((await service.api.create(request)).body.task_id);

  it('makes the task again from its resolved input and its metadata', async () => {
    const first = await ended({ ...aFailure, resolution: '2K', metadata: { order: '42' } });
    const { status, headers, body } = await retry(first.task_id);
    expect([status, headers.get('location')]).toEqual([201, `/v1/tasks/${body.task_id}`]);
    expect(body).toMatchObject({
      status: 'queued',
      model: first.model,
      input: first.input,
      metadata: { order: '42' },
      source: 'api',
      parent_task_id: first.task_id,
      relation: 'retry',
    });
    expect(body.task_id).not.toBe(first.task_id);
    expect(await service.api.untilFinal(body.task_id)).toMatchObject({ relation: 'retry', input: first.input });
  });

  it('replaces fields, takes out those that are null, and is a variation then', async () => {
    const first = await ended({ ...aFailure, aspect_ratio: '16:9', output_format: 'jpeg', n: 2 });
    expect(first.input).toMatchObject({ output_compression: 100 });
    const input = { prompt: '#fail:provider_rejected', aspect_ratio: null, output_format: null };
    const { status, body } = await retry(first.task_id, { input, metadata: { try: '2' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ relation: 'variation', metadata: { try: '2' } });
    expect(body.input).toEqual({
      prompt: '#fail:provider_rejected',
      aspect_ratio: 'auto',
      resolution: '1K',
      n: 2,
      quality: 'auto',
    });
  });

  it.each([{}, { input: {} }, { metadata: {} }, { input: { n: 1, aspect_ratio: null } }])(
    'is a retry when no parameter differs: %j',
    async (changes) => {
      const first = await ended(aFailure);
      expect((await retry(first.task_id, changes)).body).toMatchObject({ relation: 'retry', input: first.input });
    },
  );

  it.each([
    [{ input: { prompt: null } }, 'missing_required_parameter', 'input.prompt'],
    [{ input: { n: 11 } }, 'value_out_of_range', 'input.n'],
    [{ input: { reference_images: 'x' } }, 'invalid_type', 'input.reference_images'],
    [{ input: { output_compression: 10 } }, 'unsupported_parameter', 'input.output_compression'],
    [{ input: { colour: 'red' } }, 'unknown_parameter', 'input.colour'],
    [{ input: { model: 'sora-2' } }, 'unknown_parameter', 'input.model'],
    [{ input: { parent_task_id: null } }, 'unknown_parameter', 'input.parent_task_id'],
    [{ input: null }, 'invalid_type', 'input'],
    [{ metadata: { a: 'x'.repeat(513) } }, 'string_too_long', 'metadata.a'],
    [{ prompt: 'A dog' }, 'unknown_parameter', 'prompt'],
  ])('refuses %j with 400 %s and stores nothing', async (changes, code, param) => {
    const first = await ended(aFailure);
    const { status, body } = await retry<ErrorBody>(first.task_id, changes);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    const children = await service.api.get<{ data: [] }>(`/v1/tasks?parent_task_id=${first.task_id}`);
    expect(children.body.data).toEqual([]);
  });

  it('keeps the priority of the first task unless another one is given', async () => {
    const low = await ended({ ...aFailure, priority: 'low' });
    expect((await retry(low.task_id)).body).toMatchObject({ priority: 'low', relation: 'retry' });
    expect((await retry(low.task_id, { priority: 'normal' })).body).toMatchObject({ priority: 'normal' });
    expect((await retry((await ended(aFailure)).task_id, { priority: 'low' })).body).toMatchObject({ priority: 'low' });
    const { status, body } = await retry<ErrorBody>(low.task_id, { priority: 'high' });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'priority']);
  });

  it('refuses an unfinished task with 409 task_unfinished, which clients do not repeat', async () => {
    const { body } = await service.api.create(aHang);
    const answer = await retry<ErrorBody>(body.task_id);
    expect([answer.status, answer.body.error.code]).toEqual([409, 'task_unfinished']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    await service.api.cancel(body.task_id);
    expect((await retry(body.task_id, { input: { prompt: '#fail:provider_rejected' } })).status).toBe(201);
  });

  it('knows no task of another key, and none that was deleted', async () => {
    const first = await ended(aFailure);
    const other = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    const foreign = await other.call<ErrorBody>('POST', `/v1/tasks/${first.task_id}/retry`);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'task_not_found']);
    await service.api.call('DELETE', `/v1/tasks/${first.task_id}`);
    expect((await retry(first.task_id)).status).toBe(404);
  });

  it('repeats its answer for the same Idempotency-Key, also when the first task is gone by then', async () => {
    const first = await ended(aFailure);
    const key = { 'idempotency-key': `retry-${first.task_id}` };
    const made = await retry(first.task_id, { metadata: { a: 'b' } }, key);
    const again = await retry(first.task_id, { metadata: { a: 'b' } }, key);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([201, made.text, 'true']);
    const other = await retry<ErrorBody>(first.task_id, {}, key);
    expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    const ofAnother = await retry<ErrorBody>((await ended(aFailure)).task_id, { metadata: { a: 'b' } }, key);
    expect([ofAnother.status, ofAnother.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    const creation = await service.api.create<ErrorBody>({ metadata: { a: 'b' }, ...aFailure }, key);
    expect([creation.status, creation.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    await service.api.call('DELETE', `/v1/tasks/${first.task_id}`);
    expect((await retry(first.task_id, { metadata: { a: 'b' } }, key)).text).toBe(made.text);
    const children = await service.api.get<{ data: TaskBody[] }>(`/v1/tasks?parent_task_id=${first.task_id}`);
    expect(children.body.data.map(({ task_id }) => task_id)).toEqual([made.body.task_id]);
  });

  it('uses the images of the first task again, and answers file_expired when they are gone', async () => {
    const first = await ended({ ...aFailure, reference_images: [A_PIXEL] });
    const [file] = (first.input as { reference_images: string[] }).reference_images;
    expect(file).toMatch(/^file_/);
    const { body } = await retry(first.task_id);
    expect(body.input).toEqual(first.input);
    await service.api.call('DELETE', `/v1/files/${file}`);
    const gone = await retry<ErrorBody>(first.task_id);
    expect([gone.status, gone.body.error.code, gone.body.error.param]).toEqual([
      400,
      'file_expired',
      'input.reference_images[0]',
    ]);
    expect((await retry(first.task_id, { input: { reference_images: null } })).status).toBe(201);
    const given = await retry<ErrorBody>(first.task_id, { input: { reference_images: [file] } });
    expect(given.body.error.code).toBe('file_not_found');
  });

  it('reads an image again whose link has expired, if it is a file of the caller', async () => {
    const picture = await ended(aCat);
    const link = picture.result!.outputs[0]!.url;
    const { body: first } = await service.api.create({ ...aFailure, reference_images: [link] });
    // Not read over the API before, so that no copy in memory has the link that works.
    const read = (sql: string, ...values: string[]) => queryOnce(service.database.url, sql, [first.task_id, ...values]);
    const isFinal = `select 1 from tasks where id = $1 and status = 'failed'`;
    await eventually('the end', async () => (await read(isFinal)).length === 1);
    const wrong = link.replace(/expires=[0-9]+/, 'expires=1795180030');
    await read(`update tasks_done set input = replace(input::text, $2, $3)::json where id = $1`, link, wrong);
    const { status, body } = await retry(first.task_id);
    expect(status).toBe(201);
    expect(body.input).toMatchObject({ reference_images: [picture.result!.outputs[0]!.id] });
    expect(body.relation).toBe('retry');
  });

  it('is retryTask in GraphQL, with the same Idempotency-Key', async () => {
    const first = await ended(aFailure);
    const key = `both-${first.task_id}`;
    const made = await retry(first.task_id, { input: { n: 3 } }, { 'idempotency-key': key });
    const document = `mutation ($id: String!, $input: RetryTaskInput, $key: String) {
      retryTask(taskId: $id, input: $input, idempotencyKey: $key) { taskId relation parentTaskId input }
    }`;
    const { data } = await graphql.ask<{ retryTask: { taskId: string } }>(document, {
      id: first.task_id,
      input: { input: { n: 3 } },
      key,
    });
    expect(data.retryTask).toEqual({
      taskId: made.body.task_id,
      relation: 'VARIATION',
      parentTaskId: first.task_id,
      input: { ...(first.input as object), n: 3 },
    });
    const plain = await graphql.ask<{ retryTask: object }>(document, { id: first.task_id });
    expect(plain.data.retryTask).toMatchObject({ relation: 'RETRY' });
    const nulls = { id: first.task_id, input: { input: null, metadata: null, priority: null } };
    expect((await graphql.ask<{ retryTask: object }>(document, nulls)).data.retryTask).toEqual(
      expect.objectContaining({ relation: 'RETRY' }),
    );
  });

  it.each([[[]], [5], [true], [''], ['x']])(
    'refuses the input %j, in GraphQL as in REST, and creates nothing',
    async (input) => {
      const first = await ended(aFailure);
      const { status, body } = await retry<ErrorBody>(first.task_id, { input });
      expect([status, body.error]).toEqual([400, expect.objectContaining({ code: 'invalid_type', param: 'input' })]);
      const document =
        'mutation ($id: String!, $input: RetryTaskInput) { retryTask(taskId: $id, input: $input) { taskId } }';
      const { errors } = await graphql.ask(document, { id: first.task_id, input: { input } });
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'invalid_type', param: 'input' });
      const made = await service.api.call<{ data: object[] }>('GET', `/v1/tasks?parent_task_id=${first.task_id}`);
      expect(made.body.data).toEqual([]);
    },
  );
});

describe('the tasks that were made from a task', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  let parent: string;
  const children: string[] = [];
  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
    parent = (await service.api.create(aFailure)).body.task_id;
    await service.api.untilFinal(parent);
    for (let nth = 0; nth < 3; nth++) {
      children.unshift((await service.api.call('POST', `/v1/tasks/${parent}/retry`)).body.task_id);
    }
    await service.api.create(aFailure);
    for (const child of children) await service.api.untilFinal(child);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });

  const ids = async (query: string) =>
    (await service.api.get<{ data: TaskBody[] }>(`/v1/tasks?${query}`)).body.data.map(({ task_id }) => task_id);

  it('are listed newest first, oldest first, and in pages', async () => {
    expect(await ids(`parent_task_id=${parent}`)).toEqual(children);
    expect(await ids(`parent_task_id=${parent}&order=desc`)).toEqual(children);
    expect(await ids(`parent_task_id=${parent}&order=asc`)).toEqual(children.toReversed());
    expect(await ids(`parent_task_id=${parent}&order=asc&limit=1&after=${children[2]}`)).toEqual([children[1]]);
    expect(await ids(`parent_task_id=${children[0]}`)).toEqual([]);
  });

  it.each([
    ['order=up', 'order'],
    ['parent_task_id=nonsense', 'parent_task_id'],
    ['source=fax', 'source'],
  ])('are no list with %s', async (query, param) => {
    const { status, body } = await service.api.get<ErrorBody>(`/v1/tasks?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', param]);
  });

  it('are found by their source', async () => {
    expect(await ids('source=api')).toHaveLength(5);
    expect(await ids(`source=openai`)).toEqual([]);
    expect(await ids(`source=api&parent_task_id=${parent}&kind=image&model=gpt-image-2&status=failed`)).toEqual(
      children,
    );
  });

  it('are children in GraphQL, of many tasks in one document', async () => {
    const document = `{
      tasks(first: 10) { edges { node { taskId children(first: 2) { edges { node { taskId } } pageInfo { hasNextPage endCursor } } } } }
      byParent: tasks(filter: { parentTaskId: "${parent}", source: API }) { edges { node { taskId } } }
    }`;
    interface Node {
      taskId: string;
      children: { edges: { node: { taskId: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } };
    }
    const { data } = await graphql.ask<{ tasks: { edges: { node: Node }[] }; byParent: { edges: { node: Node }[] } }>(
      document,
    );
    expect(data.byParent.edges.map(({ node }) => node.taskId)).toEqual(children);
    for (const { node } of data.tasks.edges) {
      const found = node.children.edges.map((edge) => edge.node.taskId);
      expect(found).toEqual(node.taskId === parent ? children.slice(0, 2) : []);
      expect(node.children.pageInfo.hasNextPage).toBe(node.taskId === parent);
    }
    const next = await graphql.ask<{ task: Node }>(
      `{ task(taskId: "${parent}") { children(first: 2, after: "${children[1]}") { edges { node { taskId } } pageInfo { hasNextPage } } } }`,
    );
    expect(next.data.task.children.edges.map((edge) => edge.node.taskId)).toEqual([children[2]]);
  });

  it('need the scope tasks:read, also below a mutation', async () => {
    const { key } = await anotherKey(service.api, { scopes: ['generations:write'] });
    const writer = new GraphqlClient(service.baseUrl, key);
    const { errors } = await writer.ask(
      'mutation { createGeneration(input: { model: "gpt-image-2", prompt: "#fail:provider_rejected" }) { children { edges { cursor } } } }',
    );
    expect(errors?.[0]?.extensions.code).toBe('insufficient_scope');
    await writer.close();
  });

  it('arrive in a filtered subscription', async () => {
    const followed = graphql.follow<{ tasksUpdated: { taskId: string } }>(
      `subscription { tasksUpdated(since: 0, filter: { parentTaskId: "${parent}" }) { taskId } }`,
    );
    await eventually('three tasks', async () => followed.events.length >= 3);
    expect(new Set(followed.data.map(({ tasksUpdated }) => tasksUpdated.taskId))).toEqual(new Set(children));
    followed.stop();
  });
});
