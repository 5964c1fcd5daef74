import OpenAI, { toFile } from 'openai';
import sharp from 'sharp';
import { type SharedService, joinService } from '../../support/service.ts';
import { Api, type ErrorBody, type TaskBody } from '../../support/clients/api.ts';
import { eventually } from '../../support/wait.ts';
import { openaiClient } from './client.ts';

describe('the images of the openai client', () => {
  let service: SharedService;
  let openai: OpenAI;
  beforeAll(async () => {
    service = await joinService();
    openai = openaiClient(service);
  });
  afterAll(() => service.close());

  it('come as b64_json, with their size and their task', async () => {
    const { data, response } = await openai.images
      .generate({ model: 'gpt-image-2', prompt: 'A lighthouse', n: 2, size: '1536x1024' })
      .withResponse();
    const taskId = response.headers.get('task-id')!;
    expect(data).toMatchObject({ background: 'opaque', output_format: 'png', size: '1536x1024', task_id: taskId });
    expect(response.headers.get('location')).toBe(`/v1/tasks/${taskId}`);
    expect(data).not.toHaveProperty('approximations');
    const { body: task } = await service.api.get(`/v1/tasks/${taskId}`);
    expect(task).toMatchObject({ source: 'openai', input: { aspect_ratio: '3:2', resolution: '1K', n: 2 } });
    expect(data.created).toBe(task.created_at);
    expect(data.data).toHaveLength(2);
    for (const [at, { b64_json }] of data.data!.entries()) {
      const bytes = Buffer.from(b64_json!, 'base64');
      expect(bytes.length).toBe(task.result!.outputs[at]!.size_bytes);
      expect(await sharp(bytes).metadata()).toMatchObject({ width: 1536, height: 1024, format: 'png' });
    }
  });

  it('come as links on response_format url', async () => {
    const { data } = await openai.images.generate({ prompt: 'A boat', response_format: 'url' });
    const { headers, status } = await fetch(data![0]!.url!);
    expect([status, headers.get('content-type')]).toEqual([200, 'image/png']);
  });

  it('have no variations, and there is no chat: the refusal says what there is', async () => {
    const image = await toFile(Buffer.alloc(100), 'a.png');
    await expect(openai.images.createVariation({ image })).rejects.toThrow('POST /v1/images/edits');
    const messages = [{ role: 'user' as const, content: 'Hello' }];
    await expect(openai.chat.completions.create({ model: 'gpt-image-2', messages })).rejects.toThrow(
      'POST /v1/images/generations',
    );
    await expect(openai.responses.create({ input: 'Hello' })).rejects.toMatchObject({ code: 'route_not_found' });
    await expect(openai.videos.edit({ prompt: 'Night', video: { id: 'task_1' } })).rejects.toThrow('/remix');
  });

  it.each([
    ['GET', '/v1/chat/completions', undefined],
    ['GET', '/v1/responses/resp_1/input_items?limit=1', undefined],
    ['DELETE', '/v1/chat/completions/chatcmpl_1', undefined],
    ['POST', '/v1/chat/completions', '{not JSON'],
  ])('are named whatever is asked about chat, and no body is read: %s %s', async (method, path, body) => {
    const answer = await service.api.call<ErrorBody>(method, path, body);
    expect([answer.status, answer.body.error.message]).toEqual([
      404,
      expect.stringContaining('POST /v1/images/generations'),
    ]);
  });

  it.each(['dall-e-2', 'dall-e-3'])('come as links where their clients read nothing else: %s', async (model) => {
    const { data } = await openai.images.generate({ model, prompt: 'An old boat' });
    expect(data![0]).toEqual({ url: expect.stringMatching(/^http/), seed: null });
    const asked = await openai.images.generate({ model, prompt: 'An old boat', response_format: 'b64_json' });
    expect(asked.data![0]!.b64_json!.length).toBeGreaterThan(1_000);
  });

  it.each([
    ['1792x1024', { size: '1792x1024' }, undefined],
    ['1800x1012', { size: '2048x1152' }, [{ param: 'size', requested: '1800x1012', used: '2048x1152' }]],
    ['512x512', { size: '1024x1024' }, [{ param: 'size', requested: '512x512', used: '1024x1024' }]],
    ['auto', { size: '1024x1024' }, undefined],
  ] as const)('have the size %s, or the nearest one', async (size, made, approximations) => {
    const answer = await openai.images.generate({ prompt: 'A dot', size });
    expect(answer).toMatchObject(made);
    expect((answer as { approximations?: object }).approximations).toEqual(approximations);
  });

  it('record what could not be exact, in the answer and in the task', async () => {
    const answer = (await openai.images.generate({
      model: 'dall-e-3',
      prompt: 'A dot',
      quality: 'hd',
      style: 'vivid',
      moderation: 'low',
      background: 'opaque',
      user: 'u-1',
      safety_identifier: 's-1',
      n: null,
      output_format: null,
      stream: null,
    } as never)) as OpenAI.ImagesResponse & { task_id: string; approximations: object[] };
    const wanted = [
      { param: 'model', requested: 'dall-e-3', used: 'gpt-image-2' },
      { param: 'quality', requested: 'hd', used: 'auto' },
      { param: 'moderation', requested: 'low', used: 'auto' },
      { param: 'style', requested: 'vivid', used: 'auto' },
    ];
    expect(answer.approximations).toEqual(wanted);
    expect(answer.safety_identifier).toBe('s-1');
    const { body: task } = await service.api.get(`/v1/tasks/${answer.task_id}`);
    expect(task.approximations).toEqual(wanted);
    expect(task.metadata).toEqual({ user: 'u-1', safety_identifier: 's-1' });
  });

  it('take our own fields as extra body, and ignore unknown query parameters', async () => {
    const { response } = await openai.images
      .generate({ prompt: 'A dot', aspect_ratio: '16:9', resolution: '1K', metadata: { order: '7' } } as never, {
        query: { 'api-version': '2025-04-01' },
      })
      .withResponse();
    const { body: task } = await service.api.get<TaskBody>(`/v1/tasks/${response.headers.get('task-id')}`);
    expect(task).toMatchObject({ metadata: { order: '7' }, input: { aspect_ratio: '16:9' } });
  });

  it.each([
    [{ prompt: '' }, 'invalid_value', 'prompt'],
    [{}, 'missing_required_parameter', 'prompt'],
    [{ prompt: 'x', n: 11 }, 'value_out_of_range', 'n'],
    [{ prompt: 'x', n: '2' }, 'invalid_type', 'n'],
    [{ prompt: 'x', size: '100x1000' }, 'invalid_value', 'size'],
    [{ prompt: 'x', size: 'big' }, 'invalid_value', 'size'],
    [{ prompt: 'x', size: '1024x1024', aspect_ratio: '1:1' }, 'invalid_value', 'size'],
    [{ prompt: 'x', model: 'gpt-image-1.5' }, 'model_not_found', 'model'],
    [{ prompt: 'x', model: 'sora-2' }, 'invalid_value', 'model'],
    [{ prompt: 'x', quality: 'best' }, 'invalid_value', 'quality'],
    [{ prompt: 'x', output_format: 'gif' }, 'unsupported_parameter', 'output_format'],
    [{ prompt: 'x', model: 'nano-banana-2', background: 'transparent' }, 'unsupported_parameter', 'background'],
    [{ prompt: 'x', background: 'transparent', output_format: 'jpeg' }, 'invalid_value', 'background'],
    [{ prompt: 'x', response_format: 'png' }, 'invalid_value', 'response_format'],
    [{ prompt: 'x', response_format: 'url', stream: true }, 'invalid_value', 'response_format'],
    [{ prompt: 'x', svg: {} }, 'unsupported_parameter', 'svg'],
    [{ prompt: 'x', frame_count: 2 }, 'unsupported_parameter', 'frame_count'],
    [{ prompt: 'x', style: 7 }, 'invalid_type', 'style'],
    [{ prompt: 'x', user: 'u'.repeat(513) }, 'string_too_long', 'user'],
    [{ prompt: 'x', mask: { file_id: 'file_x' } }, 'unsupported_parameter', 'mask'],
    [{ prompt: 'x', duration: 5 }, 'unsupported_parameter', 'duration'],
    [{ prompt: 'x', reference_images: ['nope'] }, 'invalid_url', 'reference_images[0]'],
    [{ prompt: 'x', foo: 1 }, 'unknown_parameter', 'foo'],
    [{ prompt: 'x', __proto__x: 1 }, 'unknown_parameter', '__proto__x'],
  ])('refuse %j as %s', async (body, code, param) => {
    const error = await openai.images.generate(body as never).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(OpenAI.BadRequestError);
    expect(error).toMatchObject({ status: 400, code, param, type: 'invalid_request_error' });
  });

  it('throw the typed errors of keys and scopes', async () => {
    const strangers = openaiClient({ ...service, api: new Api(service.baseUrl, `dr_${'0'.repeat(46)}`) });
    await expect(strangers.images.generate({ prompt: 'x' })).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
  });

  it.each([
    ['content_policy_violation', 400, 'false'],
    ['reference_image_fetch_failed', 400, 'false'],
    ['reference_image_invalid', 400, 'false'],
    ['provider_rejected', 400, 'false'],
    ['task_cancelled', 409, 'false'],
    ['provider_quota_exceeded', 503, 'false'],
    ['provider_timeout', 502, 'false'],
    ['provider_outcome_unknown', 502, 'false'],
    ['provider_no_result', 502, 'false'],
    ['provider_unavailable', 503, 'true'],
    ['task_deadline_exceeded', 504, 'false'],
    ['worker_lost', 500, 'false'],
    ['result_storage_failed', 500, 'false'],
    ['internal_error', 500, 'false'],
  ])('answer a task that failed with %s as %i', async (code, status, shouldRetry) => {
    const {
      status: got,
      headers,
      body,
    } = await service.api.call<ErrorBody>(
      'POST',
      '/v1/images/generations',
      { prompt: `x #fail:${code}` },
      { 'x-stainless-lang': 'python' },
    );
    expect(got).toBe(status);
    expect(headers.get('x-should-retry')).toBe(shouldRetry);
    expect(headers.get('task-id')).toMatch(/^task_/);
    expect(body.error).toMatchObject({ code, type: status < 500 ? 'invalid_request_error' : 'server_error' });
  });

  it.each([
    ['provider_timeout', 422],
    ['provider_outcome_unknown', 422],
    ['provider_no_result', 422],
    ['task_deadline_exceeded', 422],
    ['worker_lost', 422],
    ['result_storage_failed', 422],
    ['internal_error', 422],
    ['provider_unavailable', 503],
    ['provider_quota_exceeded', 503],
    ['content_policy_violation', 400],
  ])("answer a client that is not OpenAI's, of a task that failed with %s, as %i", async (code, status) => {
    const body = { prompt: `y #fail:${code}` };
    const answer = await service.api.call<ErrorBody>('POST', '/v1/images/generations', body);
    const type = status < 500 ? 'invalid_request_error' : 'server_error';
    expect([answer.status, answer.body.error]).toMatchObject([status, { code, type }]);
  });

  it('answer 409 when the task is cancelled meanwhile', async () => {
    const given = { prompt: '#hang to cancel' };
    const ofOpenai = { 'x-stainless-lang': 'python' };
    const waiting = service.api.call<ErrorBody>('POST', '/v1/images/generations', given, ofOpenai);
    const task = await oneTask(service.api, '#hang to cancel');
    await service.api.cancel(task.task_id);
    const { status, headers, body } = await waiting;
    expect([status, body.error.code, headers.get('x-should-retry')]).toEqual([409, 'task_cancelled', 'false']);
  });
});

function oneTask(api: Api, prompt: string): Promise<TaskBody> {
  return eventually('the task', async () => {
    const { body } = await api.get<{ data: TaskBody[] }>('/v1/tasks?limit=10');
    return body.data.find(({ input }) => (input as { prompt: string }).prompt === prompt);
  });
}

/** The requests of docs/guides/chat-apps.md, field by field as these apps send them. */

let service: SharedService;
beforeAll(async () => void (service = await joinService()));
afterAll(() => service.close());

interface Images {
  data: { b64_json: string }[];
}

const headers = () => ({ authorization: `Bearer ${service.api.key}` });
const isPng = ({ data: [first] }: Images) => Buffer.from(first!.b64_json, 'base64').subarray(1, 4).toString() === 'PNG';
const picture = () =>
  sharp({ create: { width: 64, height: 64, channels: 3, background: 'red' } })
    .png()
    .toBuffer();

async function send(path: string, body: object | FormData): Promise<Images> {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${service.baseUrl}/v1${path}`, {
    method: 'POST',
    headers: isForm ? headers() : { ...headers(), 'content-type': 'application/json' },
    body: isForm ? body : JSON.stringify(body),
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Images;
}

async function form(fields: Record<string, string>, images: string[]): Promise<FormData> {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  for (const name of images) data.append(name, new Blob([await picture()], { type: 'image/png' }), 'image.png');
  return data;
}

describe('Open WebUI', () => {
  it.each([
    ['of our model', { model: 'gpt-image-2', size: '1024x1024' }],
    ['of a model of its list', { model: 'dall-e-3', size: '1024x1024', response_format: 'b64_json' }],
    ['of a size of its own', { model: 'nano-banana-2', size: '512x512', response_format: 'b64_json' }],
  ])('gets a picture %s', async (_what, chosen) => {
    expect(isPng(await send('/images/generations', { prompt: 'A lighthouse', n: 1, ...chosen }))).toBe(true);
  });

  it.each([
    ['one picture', ['image']],
    ['several pictures', ['image[]', 'image[]']],
  ])('edits %s', async (_what, images) => {
    const fields = { model: 'nano-banana-pro', prompt: 'In fog', n: '1', response_format: 'b64_json' };
    expect(isPng(await send('/images/edits', await form(fields, images)))).toBe(true);
  });
});

describe('LibreChat', () => {
  const openai = () => new OpenAI({ apiKey: service.api.key!, baseURL: `${service.baseUrl}/v1`, maxRetries: 0 });
  const asked = { prompt: 'A lighthouse', n: 1, output_format: 'png', quality: 'auto', size: 'auto' } as const;

  it('gets a picture', async () => {
    const answer = await openai().images.generate({ model: 'gpt-image-2', background: 'auto', ...asked });
    expect(isPng(answer as Images)).toBe(true);
  });

  it('edits a picture', async () => {
    const fields = { model: 'gpt-image-2', prompt: 'In fog', quality: 'auto', size: 'auto' };
    expect(isPng(await send('/images/edits', await form(fields, ['image[]'])))).toBe(true);
  });

  it('learns why a transparent background and its own model are refused', async () => {
    const ask = (more: { model: string; background: 'auto' | 'transparent' }) =>
      openai().images.generate({ ...asked, ...more });
    await expect(ask({ model: 'nano-banana-2', background: 'transparent' })).rejects.toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'background',
    });
    await expect(ask({ model: 'gpt-image-2.5-flare', background: 'auto' })).rejects.toMatchObject({
      code: 'model_not_found',
    });
  });
});
