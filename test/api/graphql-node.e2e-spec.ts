import { aCat, aHang, Api } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { joinService, type SharedService } from '../support/service.ts';

const NODE = `query ($id: ID!) {
  node(id: $id) { __typename id ... on Task { taskId status promptStart children { edges { cursor } } } ... on File { bytes } }
}`;
interface Answer {
  node: Record<string, unknown> | null;
}

describe('node', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(() => service?.close());
  const node = (id: string, client = graphql) => client.ask<Answer>(NODE, { id });
  const taskOf = async (body: object, api = service.api) =>
    (await api.untilFinal((await api.create(body)).body.task_id)).task_id;
  const keyWith = async (scopes: string[]) => {
    const { id, key } = await anotherKey(service.api, { scopes });
    return { id, api: new Api(service.baseUrl, key), client: new GraphqlClient(service.baseUrl, key) };
  };

  it('finds a task with all its fields, and its output', async () => {
    const id = await taskOf(aCat);
    const { data, errors } = await node(id);
    expect(errors).toBeUndefined();
    expect(data.node).toEqual({
      __typename: 'Task',
      id,
      taskId: id,
      status: 'SUCCEEDED',
      promptStart: aCat.prompt,
      children: { edges: [] },
    });
    const output = id.replace('task_', 'file_') + '_0';
    expect((await node(output)).data.node).toEqual({ __typename: 'File', id: output, bytes: expect.any(Number) });
  });

  it('finds an upload, a batch, an endpoint and an API key', async () => {
    const { body: upload } = await new FilesClient(service.api).upload(await aPicture());
    const batch = await new BatchClient(service.api).of([aCat]);
    const { body: endpoint } = await service.api.call<{ id: string }>('POST', '/v1/webhook_endpoints', {
      url: 'https://example.com/hook',
    });
    const key = await keyWith(['tasks:read']);
    const all = { File: upload.id, Batch: batch.id, WebhookEndpoint: endpoint.id, ApiKey: key.id };
    for (const [type, id] of Object.entries(all)) {
      expect((await node(id)).data.node).toMatchObject({ __typename: type, id });
    }
    await service.api.call('DELETE', `/v1/webhook_endpoints/${endpoint.id}`);
  });

  it('is null for what is unknown, malformed or of another key', async () => {
    const { client: stranger } = await keyWith(['tasks:read', 'generations:write', 'webhooks:manage']);
    const { body: task } = await service.api.create(aHang);
    const ids = [task.task_id, 'task_01jd8e5t9kf3qs7m2v4xw6yzab', 'task_x', 'file_x', 'batch_x', 'we_x', '_', '', 'x'];
    for (const id of ids) expect(await node(id, stranger)).toMatchObject({ status: 200, data: { node: null } });
    for (const id of ids) expect((await node(id, stranger)).errors).toBeUndefined();
    await service.api.cancel(task.task_id);
  });

  it('asks for the scope that the query of the type needs', async () => {
    const { id, client } = await keyWith(['generations:write']);
    for (const each of ['task_x', 'file_x', 'batch_x', 'we_x', id]) {
      const { data, errors } = await node(each, client);
      expect(data.node).toBeNull();
      expect(errors).toMatchObject([{ path: ['node'], extensions: { code: 'insufficient_scope' } }]);
    }
  });

  it('counts all its types against the cost of a document', async () => {
    const pages = 'children(first: 100) { edges { node { children(first: 100) { edges { node { taskId } } } } } }';
    const { status, errors } = await graphql.ask(`{ node(id: "x") { ... on Task { ${pages} } } }`);
    expect(status).toBe(400);
    expect(errors?.[0]?.message).toContain('10000 are allowed');
  });
});
