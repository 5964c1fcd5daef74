// Own settings: a folder of models that the tests change, looked at often.
import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

const openai = new OpenaiStub();
const folder = mkdtempSync(join(tmpdir(), 'darkroom-models-'));
let service: OwnService;

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

beforeAll(async () => {
  await openai.start();
  write('ink.yaml', INK.replace('URL', openai.baseUrl));
  write('film.yaml', FILM);
  service = await startOwnService({
    MODELS: folder,
    MODELS_WATCH_S: '0.05',
    INK_KEY: openai.key,
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
  expect((await ids()).slice(3)).toEqual(['sora-2', 'seedance-2', 'acme-film', 'ink']);
  expect(logged('models.loaded')[0]).toMatchObject({
    count: 2,
    added: ['acme-film', 'ink'],
    changed: [],
    removed: [],
    set: expect.stringMatching(/^[0-9a-f]{12}$/),
  });
  expect(await metric('darkroom_models_declared')).toBe(2);
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

describe('the folder', () => {
  it('is followed while the service runs', async () => {
    write('new.yaml', FILM.replace('acme-film', 'new-film'));
    await eventually('the new model', async () => (await ids()).includes('new-film'));
    const lastLoaded = (has: (line: Record<string, any>) => boolean) =>
      eventually('the log line', async () => logged('models.loaded').find(has));
    expect(await lastLoaded(({ count }) => count === 3)).toMatchObject({
      added: ['new-film'],
      changed: [],
      removed: [],
    });
    write('new.yaml', FILM.replace('acme-film', 'new-film').replace('maximum: 2', 'maximum: 3'));
    expect(await lastLoaded(({ changed }) => changed.length > 0)).toMatchObject({ count: 3, changed: ['new-film'] });
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
    await eventually('the fault', async () => logged('models.rejected').length > 0);
    expect(logged('models.rejected').at(-1)!.faults).toEqual([
      `${folder}/a-bad.yaml:2:7: kind: kind "movie" is not allowed; allowed are image, video`,
    ]);
    expect(await ids()).toEqual(before);
    unlinkSync(join(folder, 'a-bad.yaml'));
    await eventually('the good one', async () => (await ids()).includes('good-film'));
    expect(await metric('darkroom_models_rejected')).toBe(0);
    unlinkSync(join(folder, 'a-good.yaml'));
  });
});
