// Own settings: a folder of models that the tests change, looked at often.
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { byName, faultOf, mcpClient, taskOf } from '../support/clients/mcp.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { OpenaiStub } from '../support/stubs/openai.stub.ts';
import { eventually } from '../support/wait.ts';

const INK = `id: ink
kind: image
description: Drawings in ink.
parameters:
  prompt: { maxLength: 100 }
  reference_images: {}
  n: { maximum: 2 }
sizes: { table: { columns: [small], rows: { '1:1': [1024x1024], '2:1': [1280x640] } } }
bindings: [{ provider: openai, base_url: 'URL', model: ink-1, credential: INK_KEY }]
prices: [{ provider: openai, per_image: '0.25' }]
`;
const EXACT = `id: exact
kind: image
description: Any size, with steps.
aliases: [exact-latest]
parameters:
  prompt: {}
  size: { default: 1024x1024 }
  quality: { enum: [auto, high] }
  x_steps: { type: integer, minimum: 1, maximum: 50, default: 20, description: Steps. }
sizes: { pixels: { step: 16, min_side: 256, max_side: 2048, max_pixels: 2359296 } }
bindings:
  - provider: openai
    base_url: 'URL'
    model: exact-1
    credential: INK_KEY
    when: { x_steps: [20, 30] }
    send: { steps: '{{x_steps}}', note: 'seed {{seed}}' }
    map: { x_steps: { '20': twenty } }
    approximate: [quality]
  - { provider: sandbox }
`;
const MASKED = `id: masked
kind: image
description: Changes a part of a picture.
parameters:
  prompt: {}
  reference_images: {}
  mask: {}
  seed: {}
  n: { maximum: 2 }
  x_grain: { type: number, minimum: 0, maximum: 1, description: Grain. }
sizes: { table: { columns: [small], rows: { '1:1': [64x64] } } }
bindings: [{ provider: sandbox }]
`;
const FILM = `id: acme-film
kind: video
description: Films of Acme.
parameters:
  prompt: {}
  first_frame_image_url: {}
  duration: { minimum: 1, maximum: 2, default: 1 }
sizes: { table: { columns: [tiny], rows: { '16:9': [320x180] } } }
bindings: [{ provider: sandbox }]
`;

interface Place {
  host: string | null;
  models: { model: string }[];
}

const openai = new OpenaiStub();
const folder = mkdtempSync(join(tmpdir(), 'darkroom-models-'));
let service: OwnService;

/** At once: the service looks often, and might see half a file. */
function write(name: string, text: string): void {
  writeFileSync(join(folder, `.${name}`), text);
  renameSync(join(folder, `.${name}`), join(folder, name));
}

beforeAll(async () => {
  await openai.start();
  write('ink.yaml', INK.replace('URL', openai.baseUrl));
  write('film.yaml', FILM);
  write('masked.yaml', MASKED);
  write('exact.yaml', EXACT.replace('URL', openai.baseUrl));
  service = await startOwnService({
    MODELS: folder,
    MODELS_WATCH_S: '0.05',
    INK_KEY: openai.key,
    ARK_API_KEY: 'ark-key',
    ARK_BASE_URL: 'http://ark.example/api/v3',
    TASK_SWEEP_S: '0.3',
    LOG_LEVEL: 'info',
    LOG_REQUESTS: 'errors',
  });
});
afterAll(async () => {
  await service?.close();
  await openai.stop();
  rmSync(folder, { recursive: true });
});

const ids = async () => {
  const { body } = await service.api.get<{ data: { id: string }[] }>('/v1/models');
  return body.data.map(({ id }) => id);
};
const logged = (event: string) =>
  service
    .output()
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const post = async (path: string, body: object, headers: object = {}) =>
  (await service.api.call<Record<string, any>>('POST', path, body, headers)).body;
const metric = async (name: string) => {
  const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
};

it('are listed behind those that come with the service', async () => {
  expect((await ids()).slice(3)).toEqual(['sora-2', 'seedance-2', 'acme-film', 'exact', 'ink', 'masked']);
  const loaded = await eventually('the log line', async () => logged('models.loaded')[0]);
  expect(loaded).toMatchObject({
    count: 4,
    added: ['acme-film', 'exact', 'ink', 'masked'],
    changed: [],
    removed: [],
    set: expect.stringMatching(/^[0-9a-f]{12}$/),
  });
  expect(await metric('darkroom_models_declared')).toBe(4);
  expect(await metric('darkroom_models_rejected')).toBe(0);
});

it('say what they can do', async () => {
  const { body } = await service.api.get<Record<string, any>>('/v1/models/ink');
  expect(body).toMatchObject({
    owned_by: 'operator',
    declared: true,
    version: expect.stringMatching(/^[0-9a-f]{12}$/),
    shutdown_date: null,
    capabilities: {
      edits: true,
      mask: false,
      first_frame: false,
      max_reference_images: 1,
      size: 'table',
      own_parameters: [],
    },
  });
  const films = await service.api.get<{ data: { id: string }[] }>('/v1/models?kind=video');
  expect(films.body.data.map(({ id }) => id)).toEqual(['sora-2', 'seedance-2', 'acme-film']);
  expect((await service.api.get<Record<string, any>>('/v1/models?kind=audio')).status).toBe(400);
});

it('have a schema that editors can read', async () => {
  const answer = await fetch(`${service.baseUrl}/schemas/model.json`);
  expect(answer.headers.get('content-type')).toMatch(/^application\/schema\+json/);
  expect(await answer.json()).toMatchObject({
    title: 'Darkroom model',
    required: expect.arrayContaining(['id', 'bindings']),
  });
});

describe('a declared model', () => {
  it('is served by its own server, at the size of its table and at its price', async () => {
    const { task_id } = await post('/v1/generations', { model: 'ink', prompt: 'a fox', aspect_ratio: '2:1', n: 2 });
    const task = await service.api.untilFinal(task_id);
    expect(task).toMatchObject({
      status: 'succeeded',
      model: 'ink',
      input: { prompt: 'a fox', aspect_ratio: '2:1', resolution: 'small', n: 2 },
      usage: { provider: 'openai', cost: { amount_micros: 500_000 } },
    });
    expect(task.result!.outputs).toHaveLength(2);
    expect(openai.requests.at(-1)!.fields).toEqual({ model: 'ink-1', prompt: 'a fox', n: 2, size: '1280x640' });
  });

  it('shows operators its provider, but neither the address nor the name of the credential', async () => {
    const { task_id } = await post('/v1/generations', { model: 'ink', prompt: 'a fox' });
    await service.api.untilFinal(task_id);
    const places = await service.api.get<{ data: Place[] }>('/v1/operations/providers');
    const placeOf = (model: string) => places.body.data.find(({ models }) => models.some((one) => one.model === model));
    expect(placeOf('ink')).toMatchObject({
      provider: 'openai',
      host: null,
      credential: null,
      credential_present: true,
      models: [
        { model: 'exact', position: 1, upstream_model: 'exact-1' },
        { model: 'ink', position: 1, upstream_model: 'ink-1' },
      ],
    });
    expect(placeOf('seedance-2')).toMatchObject({ host: 'ark.example', credential: 'ARK_API_KEY' });
    const task = await service.api.get(`/v1/operations/tasks/${task_id}`);
    const nothing = { provider_host: null, credential: null };
    expect(task.body).toMatchObject({ provider: 'openai', provider_model: 'ink-1', ...nothing });
    const query = `{ operations { providers { host credential }
      task(taskId: "${task_id}") { providerHost credential } } }`;
    const twin = await service.api.call('POST', '/graphql', { query });
    expect(twin.body).toMatchObject({ data: { operations: { task: { providerHost: null, credential: null } } } });
    const own = ['INK_KEY', new URL(openai.baseUrl).host];
    for (const { text } of [places, task, twin]) expect(own.filter((word) => text.includes(word))).toEqual([]);
    expect(twin.text).toContain('ARK_API_KEY');
  });

  it('is made by the sandbox if its binding says so, at the exact size and length', async () => {
    const { task_id } = await post('/v1/generations', { model: 'acme-film', prompt: 'a wave', duration: 2 });
    const { result } = await service.api.untilFinal(task_id);
    expect(result!.outputs).toMatchObject([{ type: 'video', width: 320, height: 180, duration: 2 }]);
  });

  it.each([
    [{ model: 'ink', prompt: 'x'.repeat(101) }, 'string_too_long', 'prompt'],
    [{ model: 'ink', prompt: 'x', n: 3 }, 'value_out_of_range', 'n'],
    [{ model: 'ink', prompt: 'x', aspect_ratio: '16:9' }, 'invalid_value', 'aspect_ratio'],
    [
      { model: 'ink', prompt: 'x', reference_images: ['https://a/1', 'https://a/2'] },
      'too_many_items',
      'reference_images',
    ],
    [{ model: 'acme-film', prompt: 'x', n: 1 }, 'unsupported_parameter', 'n'],
    [{ model: 'acme-film', prompt: 'x', duration: 3 }, 'value_out_of_range', 'duration'],
  ])('refuses %j', async (body, code, param) => {
    expect((await post('/v1/generations', body)).error).toMatchObject({ code, param });
  });

  it('takes exact pixels and parameters of its own, and says them in the words of its server', async () => {
    const body = { model: 'exact', prompt: 'a fox', size: '1024x768', quality: 'high' };
    const { task_id } = await post('/v1/generations', body);
    expect(await service.api.untilFinal(task_id)).toMatchObject({
      status: 'succeeded',
      input: { prompt: 'a fox', size: '1024x768', quality: 'high', x_steps: 20 },
      approximations: [{ param: 'quality', requested: 'high', used: 'auto' }],
    });
    expect(openai.requests.at(-1)!.fields).toMatchObject({
      size: '1024x768',
      steps: 'twenty',
      note: expect.stringMatching(/^seed [0-9]+$/),
    });
  });

  describe('says the seed of each output', () => {
    const asked = { model: 'masked', prompt: 'a fox', n: 2, seed: 7 };

    it('over REST, server-sent events and GraphQL', async () => {
      const { task_id } = await post('/v1/generations', asked);
      const task = await service.api.untilFinal(task_id);
      expect(task.result!.outputs).toMatchObject([{ seed: 7 }, { seed: 7 }]);
      const events = await fetch(`${service.baseUrl}/v1/tasks/${task_id}/events`, {
        headers: { authorization: `Bearer ${service.api.key}` },
      });
      expect(await events.text()).toMatch(/"seed":7\b.*"seed":7\b/);
      const query = `{ task(taskId: "${task_id}") { result { outputs { seed } } } }`;
      expect((await post('/graphql', { query })).data.task.result.outputs).toEqual([{ seed: 7 }, { seed: 7 }]);
    });

    it('over the route of OpenAI, with links and with bytes', async () => {
      for (const response_format of ['url', 'b64_json']) {
        const { data } = await post('/v1/images/generations', { ...asked, response_format });
        expect(data.map(({ seed }: { seed: number }) => seed)).toEqual([7, 7]);
      }
    });

    it('that is null where the sandbox was given none', async () => {
      const { data } = await post('/v1/images/generations', { model: 'masked', prompt: 'a fox' });
      expect(data).toMatchObject([{ seed: null }]);
    });
  });

  it.each([
    [{ x_steps: 30 }, 'without a word for a value'],
    [{ x_steps: 40 }, 'with a value that its condition leaves out'],
  ])('goes on to its next binding for %j, %s', async (more) => {
    const { task_id } = await post('/v1/generations', { model: 'exact', prompt: 'a fox', size: '256x256', ...more });
    const { result, usage } = await service.api.untilFinal(task_id);
    expect(usage).toMatchObject({ provider: 'sandbox' });
    expect(result!.outputs).toMatchObject([{ width: 256, height: 256 }]);
  });

  it('is asked for by an alias, an exact size and parameters of its own over the route of OpenAI', async () => {
    const body = { model: 'exact-latest', prompt: 'a fox', size: '512x768', x_steps: 20 };
    const { data, size } = await post('/v1/images/generations', body);
    expect(data).toHaveLength(1);
    expect(size).toBe('512x768');
    const refused = await post('/v1/images/generations', { ...body, size: '500x768' });
    expect(refused.error).toMatchObject({ code: 'invalid_value', param: 'size' });
    expect(refused.error.message).toBe(
      'size must be WIDTHxHEIGHT, each a multiple of 16 from 256 to 2048, at most 2359296 pixels, not "500x768".',
    );
  });

  it('refuses what it does not take in the same words over the route of OpenAI', async () => {
    for (const [name, code] of [
      ['seed', 'unsupported_parameter'],
      ['x_grain', 'unsupported_parameter'],
      ['x_no', 'unknown_parameter'],
    ] as const) {
      const body = { model: 'exact', prompt: 'x', [name]: 7 };
      const { request_id: _, ...error } = (await post('/v1/generations', body)).error;
      expect(error).toMatchObject({ code, param: name });
      expect((await post('/v1/images/generations', body)).error).toMatchObject(error);
    }
  });

  describe('with a mask, over the route of OpenAI', () => {
    const picture = (background: string) =>
      sharp({ create: { width: 64, height: 64, channels: 3, background } })
        .png()
        .toBuffer();
    /** Black on the left, white on the right. */
    const half = async () => {
      const white = await sharp(await picture('#fff'))
        .resize(32, 64)
        .toBuffer();
      return sharp(await picture('#000'))
        .composite([{ input: white, left: 32, top: 0 }])
        .png()
        .toBuffer();
    };
    const blob = (bytes: Buffer) => new Blob([new Uint8Array(bytes)], { type: 'image/png' });
    async function edit(fields: Record<string, Blob | string>): Promise<Record<string, any>> {
      const form = new FormData();
      for (const [name, value] of Object.entries({ prompt: 'a fox', model: 'masked', ...fields }))
        form.append(name, value);
      const headers = { authorization: `Bearer ${service.api.key}` };
      const answer = await fetch(`${service.baseUrl}/v1/images/edits`, { method: 'POST', headers, body: form });
      return (await answer.json()) as Record<string, any>;
    }

    it('changes only what the mask says', async () => {
      const image = blob(await picture('#0f0'));
      const { data } = await edit({ image, mask: blob(await half()) });
      const { data: pixels, info } = await sharp(Buffer.from(data[0].b64_json, 'base64'))
        .raw()
        .toBuffer({ resolveWithObject: true });
      const isGreen = (x: number) =>
        [0, 255, 0].every((value, channel) => pixels[info.channels * x + channel] === value);
      expect([0, 31].map(isGreen)).toEqual([true, true]);
      expect(Array.from({ length: 32 }, (_, x) => isGreen(32 + x))).toContain(false);
    });

    it('reads the texts of a form by the schema of the model', async () => {
      const image = blob(await picture('#0f0'));
      const { data } = await edit({ image, seed: '7', x_grain: '0.5' });
      expect(data).toMatchObject([{ seed: 7 }]);
      expect((await edit({ image, seed: 'seven' })).error).toMatchObject({ code: 'invalid_type', param: 'seed' });
      expect((await edit({ image, x_grain: '1.5' })).error).toMatchObject({
        code: 'value_out_of_range',
        param: 'x_grain',
      });
      const asJson = { model: 'masked', prompt: 'a fox', seed: '7' };
      expect((await post('/v1/images/generations', asJson)).error).toMatchObject({
        code: 'invalid_type',
        param: 'seed',
      });
    });

    it('takes links and ids of files in JSON, also in a batch', async () => {
      const [image, mask] = [await picture('#0f0'), await half()].map((bytes) => ({
        image_url: `data:image/png;base64,${bytes.toString('base64')}`,
      }));
      const body = { model: 'masked', prompt: 'a fox', images: [image], mask };
      const { task_id } = await post('/v1/images/edits', body);
      const { body: task } = await service.api.get<Record<string, any>>(`/v1/tasks/${task_id}`);
      const aFile = expect.stringMatching(/^file_/);
      expect(task.input).toMatchObject({ reference_images: [aFile], mask: aFile });
      const batch = await post('/v1/batches', {
        endpoint: '/v1/images/edits',
        requests: [{ custom_id: 'a', body: { ...body, mask: { file_id: task.input.mask } } }],
      });
      expect(batch.error).toBeUndefined();
    });

    it('is refused, in words, by a model that takes none', async () => {
      const image = blob(await picture('#0f0'));
      const { error } = await edit({ model: 'ink', image, mask: blob(await half()) });
      expect(error).toMatchObject({ code: 'unsupported_parameter', param: 'mask' });
      expect(error.message).toBe('mask is not supported by ink. Describe in the prompt which part to change.');
      const twice = await post('/v1/images/edits', { model: 'masked', prompt: 'x', images: [], mask: 'x' });
      expect(twice.error).toMatchObject({ code: 'missing_required_parameter', param: 'images' });
      const other = await edit({ image, mask: blob(await picture('#000')) });
      expect(other.error).toMatchObject({ code: 'reference_image_invalid', param: 'mask' });
    });
  });

  it('takes parameters of its own over GraphQL in extra', async () => {
    const create = (extra: string) =>
      post('/graphql', {
        query: `mutation { createGeneration(input: { model: "exact", prompt: "a fox", size: "256x256", extra: ${extra} }) { input } }`,
      });
    expect((await create('{ x_steps: 40 }')).data.createGeneration.input).toMatchObject({ x_steps: 40 });
    expect((await create('{ steps: 40 }')).errors[0].extensions).toMatchObject({
      code: 'unknown_parameter',
      param: 'extra.steps',
    });
  });

  it('is estimated', async () => {
    expect(await post('/v1/estimates', { model: 'ink', prompt: 'a fox', n: 2 })).toMatchObject({
      model: 'ink',
      cost: { amount_micros: 500_000, basis: 'priced' },
    });
  });

  it('is made over GraphQL', async () => {
    const query = `mutation { createGeneration(input: { model: "ink", prompt: "a fox", aspectRatio: "2:1" }) { model input } }`;
    expect((await post('/graphql', { query })).data).toEqual({
      createGeneration: {
        model: 'ink',
        input: { prompt: 'a fox', aspect_ratio: '2:1', resolution: 'small', n: 1 },
      },
    });
  });

  it('is made by the route of OpenAI', async () => {
    const { data } = await post('/v1/images/generations', { model: 'ink', prompt: 'a fox', size: '1280x640' });
    expect(data).toHaveLength(1);
    expect(openai.requests.at(-1)!.fields).toMatchObject({ size: '1280x640' });
  });

  it('starts a film from an image over the route of OpenAI, also without modes', async () => {
    const bytes = await sharp({ create: { width: 320, height: 180, channels: 3, background: '#0f0' } })
      .png()
      .toBuffer();
    const input_reference = { image_url: `data:image/png;base64,${bytes.toString('base64')}` };
    const { id } = await post('/v1/videos', { model: 'acme-film', prompt: '#hang', input_reference });
    const { body: task } = await service.api.get<Record<string, any>>(`/v1/tasks/${id}`);
    expect(task.input).toMatchObject({ first_frame_image_url: expect.stringMatching(/^file_/), duration: 1 });
    await service.api.cancel(id);
  });

  it('is an item of a batch', async () => {
    const input = { custom_id: 'a', body: { model: 'ink', prompt: 'a fox' } };
    const batch = await post('/v1/batches', { requests: [input] });
    expect(batch.error).toBeUndefined();
  });

  it('can be paused', async () => {
    const pause = await post('/v1/operations/pauses', { model: 'ink', reason: 'x' });
    expect(pause).toMatchObject({ models: ['ink'] });
    await service.api.call('DELETE', `/v1/operations/pauses/${pause.id}`);
  });
});

describe('agents', () => {
  let client: Client;
  beforeAll(async () => {
    client = await mcpClient('modern', new URL('/mcp', service.baseUrl), { key: service.api.key! });
  });
  afterAll(() => client.close());
  const call = (name: string, given: Record<string, unknown>) =>
    client.callTool({ name, arguments: given }) as Promise<CallToolResult>;

  it('see the models of the operator, and what only some of them take', async () => {
    const { tools } = await client.listTools();
    const { properties } = byName(tools, 'generate_image').inputSchema as { properties: Record<string, any> };
    expect(properties.model.enum).toEqual([
      'gpt-image-2',
      'nano-banana-2',
      'nano-banana-pro',
      'exact',
      'ink',
      'masked',
    ]);
    expect(properties.size.description).toMatch(
      /^The pixels, WIDTHxHEIGHT\. gpt-image-2: each .*; exact: each .*, default 1024x1024\.$/,
    );
    expect(properties.extra.type).toBe('object');
    expect(properties.mask.description).toMatch(/Only gpt-image-2, masked/);
    expect(properties.strength).toBeUndefined();
    expect(byName(tools, 'generate_video').inputSchema.properties).not.toHaveProperty('extra');
    const { structuredContent } = await call('list_models', { model: 'exact' });
    expect(structuredContent).toMatchObject({ data: [{ id: 'exact', capabilities: { own_parameters: ['x_steps'] } }] });
    expect(faultOf(await call('list_models', { model: 'gone' }))).toMatchObject({ code: 'model_not_found' });
  });

  it('make pictures with them', async () => {
    const given = { model: 'exact', prompt: 'a fox', size: '256x256', extra: { x_steps: 40 } };
    expect(taskOf(await call('generate_image', { ...given, wait_s: 60 }))).toMatchObject({
      status: 'succeeded',
      input: { size: '256x256', x_steps: 40 },
    });
    const refused = await call('generate_image', { ...given, extra: { steps: 40 } });
    expect(faultOf(refused)).toMatchObject({ code: 'unknown_parameter', param: 'extra.steps' });
  });
});

describe('the folder', () => {
  it('is followed while the service runs', async () => {
    write('new.yaml', FILM.replace('acme-film', 'new-film'));
    await eventually('the new model', async () => (await ids()).includes('new-film'));
    const lastLoaded = (has: (line: Record<string, any>) => boolean) =>
      eventually('the log line', async () => logged('models.loaded').find(has));
    expect(await lastLoaded(({ count }) => count === 5)).toMatchObject({
      added: ['new-film'],
      changed: [],
      removed: [],
    });
    write('new.yaml', FILM.replace('acme-film', 'new-film').replace('maximum: 2', 'maximum: 3'));
    expect(await lastLoaded(({ changed }) => changed.length > 0)).toMatchObject({ count: 5, changed: ['new-film'] });
    const { task_id } = await post('/v1/generations', { model: 'new-film', prompt: '#hang', duration: 3 });
    await service.api.until(task_id, 'running');
    unlinkSync(join(folder, 'new.yaml'));
    await eventually('the model to go', async () => !(await ids()).includes('new-film'));
    expect((await post('/v1/generations', { model: 'new-film', prompt: 'x' })).error).toMatchObject({
      code: 'model_not_found',
    });
    expect((await service.api.cancel(task_id)).body).toMatchObject({ status: 'failed' });
  });

  it('changes nothing while a file of it is wrong', async () => {
    const before = await ids();
    write('a-bad.yaml', FILM.replace('kind: video', 'kind: movie').replace('acme-film', 'bad-film'));
    write('a-good.yaml', FILM.replace('acme-film', 'good-film'));
    await eventually('the refusal', async () => (await metric('darkroom_models_rejected')) === 1);
    const rejected = await eventually('the fault', async () => logged('models.rejected')[0]);
    expect(rejected.faults).toEqual([
      `${folder}/a-bad.yaml:2:7: kind: kind "movie" is not allowed; allowed are image, video`,
    ]);
    expect(await ids()).toEqual(before);
    unlinkSync(join(folder, 'a-bad.yaml'));
    await eventually('the good one', async () => (await ids()).includes('good-film'));
    expect(await metric('darkroom_models_rejected')).toBe(0);
    unlinkSync(join(folder, 'a-good.yaml'));
  });
});
