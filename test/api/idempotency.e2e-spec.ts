import { type ErrorBody, type TaskBody, Api, aCat, aFailure } from '../support/clients/api.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { testEnv } from '../support/test-env.ts';
import { spawnService } from '../support/process.ts';

const WITH_KEY = (key: string) => ({ 'idempotency-key': key });

describe('Idempotency-Key', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  const tasksMade = async () => (await service.api.get<{ data: TaskBody[] }>('/v1/tasks?limit=100')).body.data.length;

  it('returns the first answer byte for byte when the same request is repeated', async () => {
    const first = await service.api.create(aFailure, WITH_KEY('again'));
    await service.api.untilFinal(first.body.task_id);
    const second = await service.api.create(aFailure, WITH_KEY('again'));
    expect(second.status).toBe(201);
    expect(second.text).toBe(first.text);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
  });

  it('compares requests by content, not by key order; unquoted and quoted keys are the same', async () => {
    const first = await service.api.create(
      '{"model":"gpt-image-2","prompt":"#fail:internal_error"}',
      WITH_KEY('order'),
    );
    const second = await service.api.create(
      '{ "prompt": "#fail:internal_error", "model": "gpt-image-2" }',
      WITH_KEY('"order"'),
    );
    expect(second.text).toBe(first.text);
  });

  it('refuses another body under a used key with 422', async () => {
    await service.api.create(aFailure, WITH_KEY('reused'));
    const { status, headers, body } = await service.api.create<ErrorBody>({ ...aFailure, n: 2 }, WITH_KEY('reused'));
    expect([status, body.error]).toMatchObject([
      422,
      { code: 'idempotency_key_reused', type: 'idempotency_error', param: 'Idempotency-Key' },
    ]);
    expect(headers.get('x-should-retry')).toBe('false');
  });

  it('does not use a key up for a request that was refused', async () => {
    expect((await service.api.create({ ...aFailure, n: 0 }, WITH_KEY('refused'))).status).toBe(400);
    expect((await service.api.create(aFailure, WITH_KEY('refused'))).status).toBe(201);
  });

  it('repeats the finished answer of a request that waited', async () => {
    const first = await service.api.create(aFailure, { ...WITH_KEY('waited'), prefer: 'wait=20' });
    expect(first.body.status).toBe('failed');
    const second = await service.api.create(aFailure, WITH_KEY('waited'));
    expect(second.text).toBe(first.text);
  });

  it('shows no answer of another API key, also where the request is refused', async () => {
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    const file = await new FilesClient(service.api).upload(await aPicture());
    const withFile = { ...aFailure, reference_images: [file.body.id] };
    expect((await service.api.create(withFile, WITH_KEY('with a file'))).status).toBe(201);
    const foreign = new Api(service.baseUrl, other.body.key);
    const refused = await foreign.create<ErrorBody>(withFile, WITH_KEY('with a file'));
    expect([refused.status, refused.body.error.code]).toEqual([400, 'file_not_found']);
  });

  it('is scoped to the API key: the same key of another API key makes another task', async () => {
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    const first = await service.api.create(aFailure, WITH_KEY('mine'));
    const foreign = await new Api(service.baseUrl, other.body.key).create(aFailure, WITH_KEY('mine'));
    expect(foreign.status).toBe(201);
    expect(foreign.body.task_id).not.toBe(first.body.task_id);
  });

  it.each([
    ['', 400],
    ['""', 400],
    ['ü', 400],
    ['x'.repeat(256), 400],
    ['x'.repeat(255), 201],
    ['"a\\"b"', 201],
  ])('answers the key %j with %i', async (key, status) => {
    const answer = await service.api.create<ErrorBody>(aFailure, WITH_KEY(key));
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.error.code).toBe('invalid_idempotency_key');
  });

  it('makes one task of 50 parallel creates with one key across two processes', async () => {
    const { env } = await testEnv(service.database.url, { BOOTSTRAP_API_KEY: service.api.key as string });
    const other = await spawnService(env);
    try {
      const before = await tasksMade();
      const apis = [service.api, other.api];
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, at) => (apis[at % 2] as Api).create(aFailure, WITH_KEY('fifty'))),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(201));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
      expect(await tasksMade()).toBe(before + 1);
    } finally {
      await other.kill('SIGTERM');
    }
  });

  it('is shared with createGeneration of GraphQL, both ways', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const create = async (key: string, input: object) => {
      const query =
        'mutation ($input: CreateGenerationInput!, $key: String) { createGeneration(input: $input, idempotencyKey: $key) { taskId status } }';
      const { data, errors } = await graphql.ask<{ createGeneration: { taskId: string; status: string } }>(query, { input, key }); // prettier-ignore
      return { made: data?.createGeneration, error: errors?.[0]?.extensions };
    };
    const rest = await service.api.create({ ...aFailure, aspect_ratio: '3:2' }, WITH_KEY('shared-1'));
    const input = { ...aFailure, aspectRatio: '3:2' };
    expect((await create('shared-1', input)).made).toEqual({ taskId: rest.body.task_id, status: 'QUEUED' });
    const first = await create('shared-2', input);
    const again = await service.api.create({ ...aFailure, aspect_ratio: '3:2' }, WITH_KEY('shared-2'));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body.task_id).toBe(first.made!.taskId);
    expect((await create('shared-2', aCat)).error).toMatchObject({
      code: 'idempotency_key_reused',
      param: 'Idempotency-Key',
    });
  });

  it('does not mix up keys that arrive in one batch', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, at) =>
        service.api.create({ ...aCat, prompt: `#fail:internal_error ${at % 20}` }, WITH_KEY(`batch ${at % 20}`)),
      ),
    );
    for (const [at, { body }] of answers.entries()) {
      expect(body.task_id).toBe(answers[at % 20]?.body.task_id);
      expect((body.input as { prompt: string }).prompt).toBe(`#fail:internal_error ${at % 20}`);
    }
  });
});
