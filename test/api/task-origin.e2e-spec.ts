import { joinService, type SharedService } from '../support/service.ts';
import { aCat, aFailure, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';

describe('where a task comes from', () => {
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

  it('is always shown: the API, and no parent', async () => {
    const { body } = await service.api.create(aFailure);
    const origin = { source: 'api', parent_task_id: null, relation: null };
    expect(body).toMatchObject(origin);
    expect(await service.api.untilFinal(body.task_id)).toMatchObject(origin);
    const list = await service.api.get<{ data: TaskBody[] }>('/v1/tasks');
    expect(list.body.data[0]).toMatchObject(origin);
  });

  it('is a variation of the task that the request names as parent', async () => {
    const parent = (await service.api.create(aFailure)).body.task_id;
    const { status, body } = await service.api.create({ ...aFailure, parent_task_id: parent });
    expect(status).toBe(201);
    const origin = { source: 'api', parent_task_id: parent, relation: 'variation' };
    expect(body).toMatchObject(origin);
    expect(body.input).not.toHaveProperty('parent_task_id');
    expect(await service.api.untilFinal(body.task_id)).toMatchObject(origin);
  });

  it('is the same in GraphQL and in a stream', async () => {
    const parent = (await service.api.create(aFailure)).body.task_id;
    const { data } = await graphql.ask<{ createGeneration: { taskId: string } }>(
      `mutation ($input: CreateGenerationInput!) {
        createGeneration(input: $input) { taskId source parentTaskId relation }
      }`,
      { input: { ...aFailure, parentTaskId: parent } },
    );
    expect(data.createGeneration).toMatchObject({ source: 'API', parentTaskId: parent, relation: 'VARIATION' });
    const path = `/v1/tasks/${data.createGeneration.taskId}/events`;
    const stream = await EventReader.open(service.baseUrl, path, service.api.key!);
    await stream.ended;
    expect(stream.events[0]?.data).toMatchObject({ source: 'api', parent_task_id: parent, relation: 'variation' });
  });

  it.each(['task_01jd8e5t9kf3qs7m2v4xw6yzab', 'nonsense', ''])(
    'is refused if the parent is unknown: "%s"',
    async (id) => {
      const { status, body } = await service.api.create<ErrorBody>({ ...aCat, parent_task_id: id });
      expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'parent_task_id']);
    },
  );

  it('is refused if the parent is a task of another API key', async () => {
    const foreign = (await service.api.create(aFailure)).body.task_id;
    const { key } = await anotherKey(service.api);
    const { status, body } = await new Api(service.baseUrl, key).create<ErrorBody>({
      ...aCat,
      parent_task_id: foreign,
    });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_value', 'parent_task_id']);
  });
});
