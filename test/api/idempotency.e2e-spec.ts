import { type ErrorBody, type TaskBody, Api, aCat, aFailure, aHang } from '../support/clients/api.ts';
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

describe('POST /v1/generations', () => {
  let service: SharedService;
  beforeAll(async () => (service = await joinService()));
  afterAll(() => service.close());

  it('answers 201 with a queued task, progress 0, completed_at 0 and its Location', async () => {
    const { status, headers, body } = await service.api.create(aCat);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      object: 'task',
      kind: 'image',
      model: 'gpt-image-2',
      status: 'queued',
      progress: 0,
      completed_at: 0,
      input: { prompt: aCat.prompt, aspect_ratio: 'auto', resolution: '1K', n: 1, quality: 'auto' },
      metadata: {},
    });
    expect(body.task_id).toMatch(/^task_[0-9a-hjkmnp-tv-z]{26}$/);
    expect(Math.abs(body.created_at - Date.now() / 1000)).toBeLessThan(60);
    expect(headers.get('location')).toBe(`/v1/tasks/${body.task_id}`);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('stores metadata and returns it', async () => {
    const { body } = await service.api.create({ ...aCat, metadata: { order: '42', __proto__x: 'y' } });
    expect((await service.api.get(`/v1/tasks/${body.task_id}`)).body.metadata).toEqual({
      order: '42',
      __proto__x: 'y',
    });
  });

  it('with Prefer: wait answers 201 with the finished task', async () => {
    const { status, headers, body } = await service.api.create(aCat, { prefer: 'wait=30' });
    expect(status).toBe(201);
    expect(headers.get('preference-applied')).toBe('wait=30');
    expect(body).toMatchObject({ status: 'succeeded', progress: 100 });
  });

  it('with Prefer: wait answers with the unfinished task when the wait is over', async () => {
    const startedAt = Date.now();
    const { body } = await service.api.create(aHang, { prefer: 'wait=1' });
    expect(Date.now() - startedAt).toBeGreaterThan(900);
    expect(['queued', 'running']).toContain(body.status);
    await service.api.cancel(body.task_id);
  });

  const refused: [name: string, body: unknown, code: string, param: string | null][] = [
    ['no body', '', 'invalid_json', null],
    ['a list', [], 'invalid_body', null],
    ['no model', { prompt: 'x' }, 'missing_required_parameter', 'model'],
    ['no prompt', { model: 'gpt-image-2' }, 'missing_required_parameter', 'prompt'],
    ['an unknown model', { model: 'dall-e-2', prompt: 'x' }, 'model_not_found', 'model'],
    ['a blank prompt', { model: 'gpt-image-2', prompt: ' \n\u3000' }, 'invalid_value', 'prompt'],
    ['a mistyped prompt', { model: 'gpt-image-2', prompt: 7 }, 'invalid_type', 'prompt'],
    ['null', { model: 'gpt-image-2', prompt: 'x', n: null }, 'invalid_type', 'n'],
    ['an unknown field', { model: 'gpt-image-2', prompt: 'x', style: 'y' }, 'unknown_parameter', 'style'],
    ['__proto__', '{"model":"gpt-image-2","prompt":"x","__proto__":{}}', 'unknown_parameter', '__proto__'],
    ["a video's field on an image", { ...aCat, duration: 5 }, 'unsupported_parameter', 'duration'],
    ["an image's field on a video", { model: 'sora-2', prompt: 'x', n: 1 }, 'unsupported_parameter', 'n'],
    ['1K on nano-banana-2', { model: 'nano-banana-2', prompt: 'x', resolution: '1K' }, 'invalid_value', 'resolution'],
    [
      '5:4 outside gpt-image-2',
      { model: 'nano-banana-pro', prompt: 'x', aspect_ratio: '5:4' },
      'invalid_value',
      'aspect_ratio',
    ],
    ['720P on seedance-2', { model: 'seedance-2', prompt: 'x', resolution: '720P' }, 'invalid_value', 'resolution'],
    ['720p on sora-2', { model: 'sora-2', prompt: 'x', resolution: '720p' }, 'invalid_value', 'resolution'],
    [
      'reference_image_url on sora-2',
      { model: 'sora-2', prompt: 'x', reference_image_url: 'https://example.com/a.png' },
      'unsupported_parameter',
      'reference_image_url',
    ],
    ['n 0', { ...aCat, n: 0 }, 'value_out_of_range', 'n'],
    ['n 1.5', { ...aCat, n: 1.5 }, 'invalid_type', 'n'],
    ['n "2"', { ...aCat, n: '2' }, 'invalid_type', 'n'],
    ['n 11', { ...aCat, n: 11 }, 'value_out_of_range', 'n'],
    ['a huge number', '{"model":"gpt-image-2","prompt":"x","n":1e400}', 'invalid_type', 'n'],
    ['duration 21 on sora-2', { model: 'sora-2', prompt: 'x', duration: 21 }, 'value_out_of_range', 'duration'],
    ['duration 3 on seedance-2', { model: 'seedance-2', prompt: 'x', duration: 3 }, 'value_out_of_range', 'duration'],
    ['NUL', { model: 'gpt-image-2', prompt: 'a\0b' }, 'invalid_unicode', 'prompt'],
    ['half a surrogate pair', '{"model":"gpt-image-2","prompt":"\\ud800"}', 'invalid_unicode', 'prompt'],
    ['a key twice', '{"model":"gpt-image-2","prompt":"x","prompt":"y"}', 'duplicate_key', 'prompt'],
    [
      '33 levels',
      `{"model":"gpt-image-2","prompt":"x","metadata":${'['.repeat(33)}${']'.repeat(33)}}`,
      'json_too_deep',
      null,
    ],
    ['broken JSON', '{"model":', 'invalid_json', null],
    ['a prompt too long', { model: 'gpt-image-2', prompt: 'x'.repeat(32_001) }, 'string_too_long', 'prompt'],
    [
      '17 references',
      { ...aCat, reference_images: Array(17).fill('https://example.com/a.png') },
      'too_many_items',
      'reference_images',
    ],
    ['a relative URL', { ...aCat, reference_images: ['/a.png'] }, 'invalid_url', 'reference_images[0]'],
    [
      'a private address',
      { ...aCat, reference_images: ['https://example.com/a.png', 'http://10.0.0.1/'] },
      'url_not_allowed',
      'reference_images[1]',
    ],
    ['metadata that is no text', { ...aCat, metadata: { a: 1 } }, 'invalid_type', 'metadata.a'],
  ];
  it.each(refused)('refuses %s with a code, and stores nothing', async (_, body, code, param) => {
    const before = (await service.api.get<{ data: unknown[] }>('/v1/tasks?limit=100')).body.data.length;
    const answer = await service.api.create<ErrorBody>(body);
    expect({ status: answer.status, code: answer.body.error.code }).toEqual({ status: 400, code });
    if (code !== 'json_too_deep') expect(answer.body.error.param).toBe(param);
    expect(answer.body.error.request_id).toBe(answer.headers.get('x-request-id'));
    expect((await service.api.get<{ data: unknown[] }>('/v1/tasks?limit=100')).body.data).toHaveLength(before);
  });

  it('lists the allowed values in the message', async () => {
    const { body } = await service.api.create<ErrorBody>({ model: 'sora-2', prompt: 'x', resolution: '720p' });
    for (const allowed of ['720P', '1080P', '4K']) expect(body.error.message).toContain(allowed);
  });

  it('refuses invalid UTF-8', async () => {
    const reply = await fetch(`${service.baseUrl}/v1/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.api.key}`, 'content-type': 'application/json' },
      body: Buffer.concat([
        Buffer.from('{"model":"gpt-image-2","prompt":"'),
        Buffer.from([0xff, 0xfe]),
        Buffer.from('"}'),
      ]),
    });
    expect(reply.status).toBe(400);
    expect(((await reply.json()) as ErrorBody).error.code).toBe('invalid_json');
  });

  it('refuses another content type with 415 and a body over 1 MiB with 413', async () => {
    const text = await service.api.create<ErrorBody>(JSON.stringify(aCat), { 'content-type': 'text/plain' });
    expect([text.status, text.body.error.code]).toEqual([415, 'unsupported_media_type']);
    const large = await service.api.create<ErrorBody>({ ...aCat, prompt: 'x'.repeat(1024 * 1024) });
    expect([large.status, large.body.error.code]).toEqual([413, 'payload_too_large']);
  });

  it('needs an API key', async () => {
    const withoutKey = await fetch(`${service.baseUrl}/v1/generations`, { method: 'POST' });
    expect(withoutKey.status).toBe(401);
    expect(withoutKey.headers.get('www-authenticate')).toBe('Bearer');
  });
});
