import { Client } from 'pg';
import { joinService, type SharedService } from '../support/service.ts';
import { aCat, Api, type ErrorBody } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { eventually } from '../support/wait.ts';

describe('the retention of an API key', () => {
  let service: SharedService;
  let database: Client;
  beforeAll(async () => {
    service = await joinService();
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await service?.close();
  });

  interface KeyBody {
    limits: { task_retention_days: number; file_retention_days: number };
  }
  const limitsOf = async (id: string) => (await service.api.get<KeyBody>(`/v1/api_keys/${id}`)).body.limits;
  const change = <Body = KeyBody>(id: string, limits: object | null) =>
    service.api.call<Body>('PATCH', `/v1/api_keys/${id}`, { limits });
  /** Days that the record is kept from its creation, and the files from the end. */
  const keptFor = async (taskId: string) => {
    const { rows } = await database.query<{ record: number; files: number }>(
      `select extract(epoch from expires_at - created_at)::float8 / 86400 as record,
              extract(epoch from files_expire_at - completed_at)::float8 / 86400 as files
       from tasks where id = $1`,
      [taskId],
    );
    return [rows[0]!.record, rows[0]!.files];
  };
  async function taskOf(api: Api): Promise<string> {
    const { body } = await api.create(aCat);
    await api.untilFinal(body.task_id);
    return body.task_id;
  }

  it('bounds its new tasks and their files; those that exist keep the time they were given', async () => {
    const { id, key } = await anotherKey(service.api, { limits: { task_retention_days: 2, file_retention_days: 0.5 } });
    const api = new Api(service.baseUrl, key);
    expect(await limitsOf(id)).toMatchObject({ task_retention_days: 2, file_retention_days: 0.5 });
    const first = await taskOf(api);
    expect(await keptFor(first)).toEqual([2, 0.5]);

    expect((await change(id, { task_retention_days: 0.25, file_retention_days: null })).status).toBe(200);
    // The files never outlive the record.
    expect(await limitsOf(id)).toMatchObject({ task_retention_days: 0.25, file_retention_days: 0.25 });
    const [record, files] = await keptFor(await taskOf(api));
    expect(record).toBe(0.25);
    expect(files).toBeLessThanOrEqual(0.25);
    expect(files).toBeGreaterThan(0.24);
    expect(await keptFor(first)).toEqual([2, 0.5]);

    expect((await change(id, null)).status).toBe(200);
    expect(await keptFor(await taskOf(api))).toEqual([30, 7]);
  });

  it('also bounds batches, and what they hold is deleted when it ends', async () => {
    const { key } = await anotherKey(service.api, { limits: { task_retention_days: 1 } });
    const batches = new BatchClient(new Api(service.baseUrl, key));
    const batch = await batches.of([aCat]);
    const [task] = await batches.tasks(batch.id);
    const { rows } = await database.query<{ kept_s: number }>(
      'select extract(epoch from kept_until - created_at)::int as kept_s from batches where id = $1',
      [batch.id],
    );
    expect(rows[0]!.kept_s).toBe(86_400);
    await batches.untilEnded(batch.id);
    expect((await keptFor(task!.task_id))[0]).toBe(1);
    await database.query(
      `update tasks_done set created_at = created_at - interval '25 hours', expires_at = expires_at - interval '25 hours' where id = $1`,
      [task!.task_id],
    );
    await eventually('the record to be gone for its owner', async () => {
      return (await batches.api.get(`/v1/tasks/${task!.task_id}`)).status === 404;
    });
  });

  it('is never longer than that of the service, and that of files never longer than that of tasks', async () => {
    const faultOf = ({ status, body }: { status: number; body: ErrorBody }) => [
      status,
      body.error.code,
      body.error.param,
    ];
    const create = (limits: object) => service.api.call<ErrorBody>('POST', '/v1/api_keys', { name: 'long', limits });
    const tooLong = await create({ task_retention_days: 31 });
    expect(faultOf(tooLong)).toEqual([400, 'value_out_of_range', 'limits.task_retention_days']);
    expect(tooLong.body.error.message).toContain('at most 30');
    const files = await create({ file_retention_days: 7.1 });
    expect(faultOf(files)).toEqual([400, 'value_out_of_range', 'limits.file_retention_days']);
    expect(files.body.error.message).toContain('at most 7');
    const both = await create({ task_retention_days: 3, file_retention_days: 4 });
    expect(faultOf(both)).toEqual([400, 'value_out_of_range', 'limits.file_retention_days']);
    expect(both.body.error.message).toContain('at most 3');
    expect((await create({ task_retention_days: 0 })).status).toBe(400);

    const { id } = await anotherKey(service.api, { limits: { task_retention_days: 30, file_retention_days: 7 } });
    expect(faultOf(await change<ErrorBody>(id, { file_retention_days: 8 }))[2]).toBe('limits.file_retention_days');
    expect(faultOf(await change<ErrorBody>(id, { task_retention_days: 6 }))[2]).toBe('limits.file_retention_days');
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { errors } = await graphql.ask(
      `mutation { updateApiKey(id: "${id}", input: { limits: { taskRetentionDays: 31 } }) { id } }`,
    );
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'value_out_of_range', param: 'limits.task_retention_days' });
    // A key with a retention of its own grants no longer one.
    const own = await anotherKey(service.api, {
      scopes: ['keys:manage', 'tasks:read'],
      limits: { task_retention_days: 5, file_retention_days: 2 },
    });
    const grantor = new Api(service.baseUrl, own.key);
    const granted = await grantor.call<ErrorBody>('POST', '/v1/api_keys', { name: 'x', scopes: ['tasks:read'] });
    expect(faultOf(granted)).toEqual([403, 'insufficient_scope', 'limits.task_retention_days']);
    const within = { name: 'x', scopes: ['tasks:read'], limits: { task_retention_days: 5, file_retention_days: 1 } };
    expect((await grantor.call('POST', '/v1/api_keys', within)).status).toBe(201);
  });
});
