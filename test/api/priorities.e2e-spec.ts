import OpenAI from 'openai';
import { aFailure, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { joinService, type SharedService } from '../support/service.ts';

const LOW = { priority: 'low' };

describe('the priority of a task', () => {
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

  it.each([
    ['normal when left out', {}, 'normal'],
    ['normal', { priority: 'normal' }, 'normal'],
    ['low', LOW, 'low'],
  ])('is %s, and every view shows it', async (_case, given, priority) => {
    const { status, body } = await service.api.create({ ...aFailure, ...given });
    expect([status, body.priority]).toEqual([201, priority]);
    expect(body.input).not.toHaveProperty('priority');
    expect(await service.api.untilFinal(body.task_id)).toMatchObject({ priority });
    const { data } = (await service.api.get<{ data: TaskBody[] }>('/v1/tasks?limit=1')).body;
    expect(data[0]).toMatchObject({ task_id: body.task_id, priority });
    const stream = await EventReader.open(service.baseUrl, `/v1/tasks/${body.task_id}/events`, service.api.key!);
    await stream.ended;
    expect(stream.events[0]?.data).toMatchObject({ priority });
    const asked = await graphql.ask<{ task: object }>(`query ($id: String!) { task(taskId: $id) { priority } }`, { id: body.task_id }); // prettier-ignore
    expect(asked.data.task).toEqual({ priority: priority.toUpperCase() });
  });

  it('can be chosen in GraphQL, and one Idempotency-Key means the same request as in REST', async () => {
    const { data } = await graphql.ask<{ createGeneration: { taskId: string; priority: string } }>(
      `mutation ($input: CreateGenerationInput!) {
        createGeneration(input: $input, idempotencyKey: "low") { taskId priority }
      }`,
      { input: { ...aFailure, ...LOW } },
    );
    expect(data.createGeneration.priority).toBe('LOW');
    const again = await service.api.create({ ...aFailure, ...LOW }, { 'idempotency-key': 'low' });
    expect(again.body).toMatchObject({ task_id: data.createGeneration.taskId, priority: 'low' });
    const other = await service.api.create<ErrorBody>(aFailure, { 'idempotency-key': 'low' });
    expect(other.body.error.code).toBe('idempotency_key_reused');
  });

  it.each([
    ['high', 'invalid_value'],
    ['LOW', 'invalid_value'],
    [1, 'invalid_type'],
    [null, 'invalid_type'],
  ])('is refused when it is %j', async (priority, code) => {
    const { status, body } = await service.api.create<ErrorBody>({ ...aFailure, priority });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, 'priority']);
  });

  it('can be chosen by clients of OpenAI', async () => {
    const openai = new OpenAI({ apiKey: service.api.key!, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
    const film = await openai.videos.create({ prompt: '#hang', ...LOW } as never);
    expect((await service.api.get(`/v1/tasks/${film.id}`)).body).toMatchObject({ source: 'openai', priority: 'low' });
    await service.api.cancel(film.id);
    const image = await openai.images.generate({ prompt: 'A cat', response_format: 'url', ...LOW } as never);
    const { task_id: id } = image as unknown as { task_id: string };
    expect((await service.api.get(`/v1/tasks/${id}`)).body).toMatchObject({ source: 'openai', priority: 'low' });
    const fault = await openai.images.generate({ prompt: 'A cat', priority: 'high' } as never).catch((error) => error);
    expect([fault.status, fault.code, fault.param]).toEqual([400, 'invalid_value', 'priority']);
  });
});

describe('the weight of an API key', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  const made = async (limits: object) => (await anotherKey(service.api, { limits })).id;
  const patch = <Body>(id: string, limits: object | null) =>
    service.api.call<Body>('PATCH', `/v1/api_keys/${id}`, { limits });
  const weightOf = async (id: string) =>
    (await service.api.get<{ limits: { weight: number } }>(`/v1/api_keys/${id}`)).body.limits.weight;

  it('is 10 unless its limits say otherwise, and null makes it 10 again', async () => {
    expect(await weightOf(await made({}))).toBe(10);
    const id = await made({ weight: 20 });
    expect(await weightOf(id)).toBe(20);
    await patch(id, { weight: 100 });
    expect(await weightOf(id)).toBe(100);
    await patch(id, { weight: null });
    expect(await weightOf(id)).toBe(10);
  });

  it.each([
    [0, 'value_out_of_range'],
    [101, 'value_out_of_range'],
    [1.5, 'invalid_type'],
    ['20', 'invalid_type'],
  ])('is refused when it is %j', async (weight, code) => {
    const created = await service.api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'x', limits: { weight } });
    expect([created.status, created.body.error.code, created.body.error.param]).toEqual([400, code, 'limits.weight']);
    const id = await made({ weight: 7 });
    const { status, body } = await patch<ErrorBody>(id, { weight });
    expect([status, body.error.code, body.error.param]).toEqual([400, code, 'limits.weight']);
    expect(await weightOf(id)).toBe(7);
  });

  it('takes keys:manage, and a key of a weight of its own grants no more', async () => {
    const id = await made({});
    const plain = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    const refused = await plain.call<ErrorBody>('PATCH', `/v1/api_keys/${id}`, { limits: { weight: 100 } });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'insufficient_scope']);
    const scopes = ['generations:write', 'tasks:read', 'tasks:cancel', 'webhooks:manage', 'keys:manage'];
    const manager = new Api(service.baseUrl, (await anotherKey(service.api, { scopes, limits: { weight: 20 } })).key);
    const more = await manager.call<ErrorBody>('PATCH', `/v1/api_keys/${id}`, { limits: { weight: 21 } });
    expect([more.status, more.body.error.param]).toEqual([403, 'limits.weight']);
    expect((await manager.call('PATCH', `/v1/api_keys/${id}`, { limits: { weight: 20 } })).status).toBe(200);
  });
});
