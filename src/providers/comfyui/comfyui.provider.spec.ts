import { jest } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { skipPauses, stopClock } from '../../../test/support/clock.ts';
import { imageFile } from '../../../test/support/stubs/recorded-run.ts';
import { catalog } from '../../models/catalog.ts';
import { ComfyuiStub, type Fault } from '../../../test/support/stubs/comfyui.stub.ts';
import { eventually } from '../../../test/support/wait.ts';
import {
  type InputImage,
  ProviderError,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
  UnsupportedRequest,
} from '../contract/provider.ts';
import { promptId } from './prompt-id.ts';
import { comfyuiProvider } from './comfyui.provider.ts';
import { requestedSize } from '../contract/prepare-request.ts';

const comfyui = comfyuiProvider;
const TASK = 'task_01kaaaaaaaaaaaaaaaaaaaaaaa';
let stub: ComfyuiStub;
let directory: string;

beforeEach(async () => {
  stub = await new ComfyuiStub().start();
  stub.engine.tiny = true;
  directory = mkdtempSync(join(tmpdir(), 'comfyui-spec-'));
});

afterEach(async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  await stub.stop();
  rmSync(directory, { recursive: true, force: true });
});

function aRequest(input: Partial<ProviderRequest['input']> = {}, more: Partial<ProviderRequest> = {}): ProviderRequest {
  const { upstream, ...rest } = more;
  return {
    taskId: TASK,
    model: 'gpt-image-2',
    kind: 'image',
    input: { prompt: 'a lighthouse', aspect_ratio: '1:1', resolution: '1K', n: 1, ...input },
    images: { references: [], firstFrame: null },
    ...rest,
    upstream: {
      model: 'default',
      baseUrl: stub.url,
      apiKey: null,
      durationPolicy: 'exact',
      pollIntervalMs: 20,
      ...upstream,
    },
  };
}

interface Recorded {
  percents: number[];
  acts: string[];
}

function aRun(more: Partial<Run> = {}): Run & Recorded {
  const recorded: Recorded = { percents: [], acts: [] };
  return {
    upstreamId: null,
    submittedBefore: false,
    scratchDir: directory,
    signal: new AbortController().signal,
    partialImages: 0,
    partialImage: () => undefined,
    progress: (percent) => void recorded.percents.push(percent),
    tokens: () => undefined,
    assertHeld: async () => void recorded.acts.push('checked'),
    submitting: async () => void recorded.acts.push(`submitting after ${stub.submits.length}`),
    callingAgain: async () => undefined,
    fewer: () => undefined,
    seeds: () => undefined,
    submitted: async (id) => void recorded.acts.push(id),
    resubmitting: async () => recorded.acts.push('resubmitting') > 0,
    linkTo: async ({ path }) => path,
    releaseImages: async () => undefined,
    polling: (work) => work(),
    ...more,
    ...recorded,
  };
}

/** A template of the operator's own, given by the path of a file. */
function aTemplate(json: unknown): string {
  const path = join(directory, `${Math.random()}.json`);
  writeFileSync(path, JSON.stringify(json));
  return path;
}

const aWorkflow = (inputs: Record<string, unknown> = {}, save = 'SaveImage') => ({
  latent: { class_type: 'EmptyLatentImage', inputs: { width: '{{width}}', height: '{{height}}', ...inputs } },
  sample: { class_type: 'KSampler', inputs: { text: '{{prompt}}, sharp', seed: '{{seed}}', latent: ['latent', 0] } },
  save: { class_type: save, inputs: { images: ['sample', 0] } },
});

/** Keeps every frame that the model makes. */
const anUncutFilm = (inputs: Record<string, unknown> = {}) =>
  aWorkflow({ length: '{{frames}}', ...inputs }, 'SaveVideo');

const aFilm = (inputs: Record<string, unknown> = {}) => ({
  ...anUncutFilm(inputs),
  cut: { class_type: 'ImageFromBatch', inputs: { image: ['sample', 0], batch_index: 0, length: '{{kept_frames}}' } },
  save: { class_type: 'SaveVideo', inputs: { images: ['cut', 0] } },
});

async function anImage(color: string): Promise<InputImage> {
  const bytes = await sharp({ create: { width: 40, height: 20, channels: 3, background: color } })
    .png()
    .toBuffer();
  return imageFile(bytes, { contentType: 'image/png', width: 40, height: 20 });
}

/** The graph of the k-th submission. */
function graphAt(at: number): Record<string, { class_type: string; inputs: Record<string, unknown> }> {
  const posts = stub.requests.filter(({ path }) => path === '/prompt');
  return posts[at]?.json?.prompt as ReturnType<typeof graphAt>;
}

const bytesOf = (output: ProviderOutput | undefined): Promise<Buffer> =>
  Buffer.isBuffer(output) ? Promise.resolve(output) : readFile(output?.path ?? '');

async function failureOf(promise: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await promise.then(
    () => new Error('It succeeded.'),
    (error: unknown) => error,
  );
  if (!(error instanceof ProviderError)) throw error;
  return error;
}

function unfitOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof UnsupportedRequest) return error.param;
    throw error;
  }
  return 'fits';
}

describe('images', () => {
  const values = catalog.models
    .filter(({ kind }) => kind === 'image')
    .flatMap((model) => {
      const { aspect_ratio: ratio, resolution } = model.parameters.properties as unknown as Record<
        string,
        { enum: string[] }
      >;
      return (ratio?.enum ?? []).flatMap((aspect_ratio) =>
        (resolution?.enum ?? []).map((resolution) => [model.id, aspect_ratio, resolution] as const),
      );
    });

  it.each(values)('makes %s in %s and %s', async (model, aspect_ratio, resolution) => {
    const request = aRequest({ aspect_ratio, resolution, prompt: 'braces {{width}} and $& stay' }, { model });
    const approximations = comfyui.prepare(request).approximations;
    expect(approximations).toEqual(
      aspect_ratio === 'auto' ? [{ param: 'aspect_ratio', requested: 'auto', used: '1:1' }] : [],
    );
    expect(await comfyui.prepare(request).generate(aRun())).toHaveLength(1);
    const nodes = Object.values(graphAt(0));
    const { size } = requestedSize(request);
    expect(nodes.find(({ class_type }) => class_type.startsWith('Empty'))?.inputs).toEqual({ ...size, batch_size: 1 });
    expect(JSON.stringify(nodes)).toContain('braces {{width}} and $& stay');
  });

  it('downloads images of exactly the size, n of them in one batch', async () => {
    stub.engine.tiny = false;
    const request = aRequest({ n: 3, aspect_ratio: '16:9' });
    const outputs = await comfyui.prepare(request).generate(aRun());
    expect(outputs).toHaveLength(3);
    for (const output of outputs) {
      expect(await sharp(await bytesOf(output)).metadata()).toMatchObject({ format: 'png', width: 1536, height: 864 });
    }
    expect(stub.submits).toEqual([promptId(TASK, 0)]);
  });

  it('makes n images one by one, each with its own seed, if the workflow has no batch', async () => {
    const model = aTemplate(aWorkflow());
    const request = aRequest({ n: 3 }, { upstream: { ...aRequest().upstream, model } });
    const run = aRun();
    expect(await comfyui.prepare(request).generate(run)).toHaveLength(3);
    expect(new Set([0, 1, 2].map((k) => graphAt(k).sample?.inputs.seed)).size).toBe(3);
    expect(graphAt(0).sample?.inputs.text).toBe('a lighthouse, sharp');
    expect(stub.submits).toEqual([0, 1, 2].map((k) => promptId(TASK, k)));
    expect(run.acts.at(-1)).toBe(stub.submits.join(','));
  });

  it.each(['white', 'alpha'] as const)('uploads a mask, %s, to the workflow that takes one', async (form) => {
    const [reference, mask] = [await anImage('red'), await anImage('white')];
    const load = (image: string) => ({ class_type: 'LoadImage', inputs: { image } });
    const plain = { ...aWorkflow({}), picture: load('{{image_1}}') };
    const model = aTemplate({ workflows: [plain, { ...plain, hole: load('{{mask}}') }] });
    const declared = { provider: 'comfyui' as const, mask: form };
    const upstream = { ...aRequest().upstream, model, declared };
    const input = { reference_images: ['https://a/1'], mask: 'https://a/2' };
    await comfyui
      .prepare(aRequest(input, { upstream, images: { references: [reference], firstFrame: null, mask } }))
      .generate(aRun());
    const sent = stub.uploads.get(String(graphAt(0).hole?.inputs.image))!;
    expect((await sharp(sent).metadata()).hasAlpha).toBe(form === 'alpha');
    if (form === 'white') expect(sent).toEqual(readFileSync(mask.path));
    const { mask: _mask, ...unmasked } = input;
    await comfyui
      .prepare(aRequest(unmasked, { upstream, images: { references: [reference], firstFrame: null } }))
      .generate(aRun());
    expect(graphAt(1)).not.toHaveProperty('hole');
  });

  it('splits n into batches of the size the template allows', async () => {
    const model = aTemplate({ workflows: [aWorkflow({ batch_size: '{{batch_size}}' })], max_batch: 4 });
    const request = aRequest({ n: 10 }, { upstream: { ...aRequest().upstream, model } });
    expect(await comfyui.prepare(request).generate(aRun())).toHaveLength(10);
    expect([0, 1, 2].map((k) => graphAt(k).latent?.inputs.batch_size)).toEqual([4, 4, 2]);
  });

  it('uploads reference images and passes their names to the workflow, in order', async () => {
    const references = [await anImage('red'), await anImage('blue')];
    for (const model of ['gpt-image-2', 'nano-banana-2', 'nano-banana-pro']) {
      const input = { reference_images: ['https://a/1', 'https://a/2'], aspect_ratio: 'auto', resolution: '2K' };
      const request = aRequest(input, { model, images: { references, firstFrame: null } });
      const { ratio, size } = requestedSize(request);
      expect(comfyui.prepare(request).approximations).toEqual([
        { param: 'aspect_ratio', requested: 'auto', used: ratio },
      ]);
      expect(size.width).toBeGreaterThan(size.height);
      await comfyui.prepare(request).generate(aRun());
      const loads = Object.values(graphAt(stub.submits.length - 1)).filter(
        ({ class_type }) => class_type === 'LoadImage',
      );
      const sent = loads.map(({ inputs }) => stub.uploads.get(String(inputs.image)));
      expect(sent).toEqual(references.map(({ path }) => readFileSync(path)));
    }
    expect(stub.uploads.size).toBe(2);
  });

  it.each([
    ['gpt-image-2', 3],
    ['nano-banana-2', 4],
    ['nano-banana-pro', 10],
  ])('accepts with %s up to %i reference images, and refuses more before anything is sent', (model, most) => {
    const urls = Array.from({ length: most + 1 }, (_, i) => `https://a/${i}`);
    const fits = (reference_images: string[]) =>
      unfitOf(() => comfyui.prepare(aRequest({ reference_images, resolution: '2K' }, { model })).approximations);
    expect(fits(urls.slice(1))).toBe('fits');
    expect(fits(urls)).toBe('reference_images');
    expect(stub.requests).toHaveLength(0);
  });

  it.each([
    [
      'resolution',
      { ...aWorkflow(), latent: { class_type: 'EmptyLatentImage', inputs: { width: 512, height: 512 } } },
      {},
    ],
    ['resolution', { workflows: [aWorkflow()], max_pixels: 1_000_000 }, {}],
    ['n', { ...aWorkflow(), sample: { class_type: 'KSampler', inputs: { text: '{{prompt}}' } } }, { n: 2 }],
    ['reference_images', aWorkflow(), { reference_images: ['https://a/1'] }],
    ['reference_images', aWorkflow({ image: '{{image}}' }), {}],
    ['model', { workflows: [aFilm()], frames_per_second: 24 }, {}],
    ['model', { nodes: [], links: [] }, {}],
  ] as const)('does not fit by %s where the workflow has no slot for it', (param, template, input) => {
    const upstream = { ...aRequest().upstream, model: aTemplate(template) };
    expect(unfitOf(() => comfyui.prepare(aRequest(input as object, { upstream })).approximations)).toBe(param);
  });
});

describe('videos', () => {
  function aVideo(input: Partial<ProviderRequest['input']>, template: object, more: Partial<ProviderRequest> = {}) {
    const upstream = { ...aRequest().upstream, model: aTemplate(template), ...more.upstream };
    const resolution = more.model === 'sora-2' ? '720P' : '720p';
    const defaults = { aspect_ratio: '16:9', resolution, duration: 5, reference_mode: 'omni', n: undefined };
    return aRequest({ ...defaults, ...input }, { kind: 'video', model: 'seedance-2', ...more, upstream });
  }
  const first = { first_frame_image_url: 'https://a/1' };
  const both = { ...first, reference_image_url: 'https://a/2' };
  const workflows = {
    text: aFilm(),
    frame: aFilm({ image: '{{first_frame}}' }),
    reference: aFilm({ image: '{{image}}' }),
  };

  it('finds the video that the server reports under images', async () => {
    const request = aVideo({}, { workflows: [aFilm({ fps: '{{fps}}' })], frames_per_second: 24 });
    expect(comfyui.prepare(request).approximations).toEqual([]);
    const [film] = await comfyui.prepare(request).generate(aRun());
    expect((await bytesOf(film)).subarray(4, 8).toString()).toBe('ftyp');
    expect(graphAt(0).latent?.inputs).toEqual({ width: 1280, height: 720, length: 121, fps: 24 });
  });

  it.each([
    ['seedance-2', { reference_mode: 'first_frame', ...first }, ['text', 'frame'], []],
    ['seedance-2', { reference_mode: 'omni', ...first }, ['reference', 'frame'], []],
    ['seedance-2', { reference_image_url: 'https://a/2' }, ['reference'], []],
    [
      'seedance-2',
      { ...first },
      ['reference'],
      [{ param: 'first_frame_image_url', requested: 'first_frame', used: 'reference_image' }],
    ],
    ['sora-2', { ...first }, ['frame', 'reference'], []],
    ['sora-2', { ...first }, ['frame'], [{ param: 'reference_mode', requested: 'omni', used: 'first_frame' }]],
    [
      'sora-2',
      { reference_mode: 'first_last', ...first },
      ['frame'],
      [{ param: 'reference_mode', requested: 'first_last', used: 'first_frame' }],
    ],
    [
      'sora-2',
      { reference_mode: 'multi_frame', ...first },
      ['reference'],
      [{ param: 'reference_mode', requested: 'multi_frame', used: 'omni' }],
    ],
    ['sora-2', { reference_mode: 'multi_frame' }, ['text'], []],
  ] as const)('%s with %j finds its way among workflows for %j', (model, input, names, approximations) => {
    const template = { workflows: names.map((name) => workflows[name]), frames_per_second: 24 };
    expect(comfyui.prepare(aVideo(input as object, template, { model })).approximations).toEqual(approximations);
  });

  it('passes the last frame to the workflow that ends with one', async () => {
    const images = { firstFrame: await anImage('red'), lastFrame: await anImage('blue'), references: [] };
    const template = {
      workflows: [workflows.frame, aFilm({ image: '{{first_frame}}', other: '{{last_frame}}' })],
      frames_per_second: 24,
    };
    const ends = { ...first, last_frame_image_url: 'https://a/2' };
    await comfyui.prepare(aVideo(ends, template, { images })).generate(aRun());
    const { image, other } = graphAt(0).latent?.inputs ?? {};
    expect(stub.uploads.get(String(image))).toEqual(readFileSync(images.firstFrame.path));
    expect(stub.uploads.get(String(other))).toEqual(readFileSync(images.lastFrame.path));
    const without = { workflows: [workflows.frame], frames_per_second: 24 };
    expect(() => comfyui.prepare(aVideo(ends, without, { images }))).toThrow(
      expect.objectContaining({ param: 'last_frame_image_url' }),
    );
  });

  it('passes first frame and reference to a workflow that takes both, otherwise both as references', async () => {
    const images = { firstFrame: await anImage('red'), references: [await anImage('blue')] };
    const exact = aFilm({ image: '{{first_frame}}', other: '{{image_1}}' });
    const near = aFilm({ image: '{{image_1}}', other: '{{image_2}}' });
    const request = aVideo(both, { workflows: [near, exact], frames_per_second: 24 }, { images });
    expect(comfyui.prepare(request).approximations).toEqual([]);
    await comfyui.prepare(request).generate(aRun());
    const { image, other } = graphAt(0).latent?.inputs ?? {};
    expect(stub.uploads.get(String(image))).toEqual(readFileSync(images.firstFrame.path));
    expect(stub.uploads.get(String(other))).toEqual(readFileSync(images.references[0]!.path));
    expect(comfyui.prepare(aVideo(both, { workflows: [near], frames_per_second: 24 })).approximations).toHaveLength(1);
  });

  it.each([
    ['exact', 2, { frames_per_second: 4 }, 9, 8, null],
    ['exact', 5, { frames_per_second: 16 }, 81, 80, null],
    ['exact', 5, { frames_per_second: 23.976 }, 121, 120, null],
    ['exact', 15, { frames_per_second: 24, max_seconds: 10 }, 'duration', null, null],
    ['nearest', 15, { frames_per_second: 24, max_seconds: 10 }, 241, 240, 10],
  ] as const)('with a cut, %s: %i s with %j', async (durationPolicy, duration, limits, frames, kept, used) => {
    const upstream = { ...aRequest().upstream, durationPolicy, model: aTemplate({ workflows: [aFilm()], ...limits }) };
    const request = aVideo({ duration }, {}, { upstream });
    if (kept === null) {
      expect(unfitOf(() => comfyui.prepare(request))).toBe(frames);
      return;
    }
    const recorded = used === null ? [] : [{ param: 'duration', requested: duration, used }];
    expect(comfyui.prepare(request).approximations).toEqual(recorded);
    await comfyui.prepare(request).generate(aRun());
    expect([graphAt(0).latent?.inputs.length, graphAt(0).cut?.inputs.length]).toEqual([frames, kept]);
  });

  it.each([
    ['exact', 2, { frames_per_second: 4 }, 0, 'duration'],
    ['exact', 5, { frames_per_second: 16 }, 0, 'duration'],
    ['exact', 5, { frames_per_second: 16, frame_step: 1 }, 80, null],
    ['exact', 15, { frames_per_second: 24, max_seconds: 10 }, 0, 'duration'],
    ['nearest', 2, { frames_per_second: 4 }, 9, 2.25],
    ['nearest', 15, { frames_per_second: 24, max_seconds: 10 }, 241, 10.042],
    ['nearest', 4, { frames_per_second: 24, min_seconds: 6 }, 145, 6.042],
    ['nearest', 5, { frames_per_second: 25, frame_step: 8 }, 129, 5.16],
  ] as const)('without a cut, %s: %i s with %j', async (durationPolicy, duration, limits, frames, result) => {
    const template = aTemplate({ workflows: [anUncutFilm()], ...limits });
    const request = aVideo({ duration }, {}, { upstream: { ...aRequest().upstream, durationPolicy, model: template } });
    if (typeof result === 'string') {
      expect(unfitOf(() => comfyui.prepare(request))).toBe(result);
      return;
    }
    const recorded = result === null ? [] : [{ param: 'duration', requested: duration, used: result }];
    expect(comfyui.prepare(request).approximations).toEqual(recorded);
    await comfyui.prepare(request).generate(aRun());
    expect(graphAt(0).latent?.inputs.length).toBe(frames);
  });

  it('rounds a size to one that the model supports, and records it', () => {
    const request = aVideo({ aspect_ratio: '21:9' }, { workflows: [aFilm()], frames_per_second: 24 });
    expect(comfyui.prepare(request).approximations).toEqual([
      { param: 'resolution', requested: '720p', used: '1472x624' },
    ]);
  });
});

describe('the socket', () => {
  it('reports the progress, node by node', async () => {
    stub.engine.nodeMs = 20;
    const run = aRun();
    await comfyui.prepare(aRequest({}, { upstream: { ...aRequest().upstream, pollIntervalMs: 10_000 } })).generate(run);
    expect(new Set(run.percents).size).toBeGreaterThan(6);
    expect(run.percents).toEqual([...run.percents].toSorted((a, b) => a - b));
    expect(run.percents.at(-1)).toBe(100);
  });

  it('ends the wait at once, long before the next poll', async () => {
    const upstream = { ...aRequest().upstream, pollIntervalMs: 3_600_000 };
    expect(await comfyui.prepare(aRequest({}, { upstream })).generate(aRun())).toHaveLength(1);
  });

  it('may break: the history shows the end, and a new socket continues the progress', async () => {
    stub.engine.held = true;
    const run = aRun();
    const result = comfyui.prepare(aRequest()).generate(run);
    await eventually('the run', async () => stub.engine.running);
    await eventually('progress', async () => run.percents.length > 3);
    skipPauses((ms) => ms === 1_000); // before another socket
    stub.dropSockets();
    await eventually('another socket', async () => stub.socketCount === 2);
    const before = run.percents.length;
    stub.engine.held = false;
    expect(await result).toHaveLength(1);
    expect(run.percents.length).toBeGreaterThan(before);
  });

  it('is not needed', async () => {
    stub.refusesSockets = true;
    expect(await comfyui.prepare(aRequest()).generate(aRun())).toHaveLength(1);
    expect(stub.socketCount).toBe(0);
  });
});

describe('submitting once', () => {
  it('records the intent before and the id after, and the id is that of the run', async () => {
    const run = aRun();
    await comfyui.prepare(aRequest()).generate(run);
    expect(run.acts).toEqual(['submitting after 0', 'checked', 'checked', promptId(TASK, 0)]);
    expect(promptId(TASK, 0)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it.each<Fault>(['lose reply'])('finds its run when the answer is lost', async (fault) => {
    stub.next('POST /prompt', fault);
    expect(await comfyui.prepare(aRequest()).generate(aRun())).toHaveLength(1);
    expect(stub.submits).toHaveLength(1);
  });

  it.each<[string, Fault]>([
    ['the connection breaks', 'reset'],
    ['a proxy answers 502', { status: 502, body: '<html>Bad Gateway</html>' }],
    ['the server answers 500', { status: 500, body: 'Internal Server Error' }],
    ['the answer is junk', 'junk'],
  ])('is not billed when %s and the server has no record of the run', async (_what, fault) => {
    stub.next('POST /prompt', fault);
    const error = await failureOf(comfyui.prepare(aRequest()).generate(aRun()));
    expect(error).toMatchObject({ code: 'provider_unavailable', billing: 'none' });
    expect(stub.submits).toHaveLength(0);
  });

  it('polls its run when the answer is lost and the lookup is refused', async () => {
    stub.next('POST /prompt', 'lose reply');
    const refused = { status: 403 };
    stub.next('GET /queue', refused, refused, refused);
    expect(await comfyui.prepare(aRequest()).generate(aRun())).toHaveLength(1);
    expect(stub.submits).toHaveLength(1);
  });

  it('continues the run of a lost worker', async () => {
    stub.engine.held = true;
    const lost = new AbortController();
    const first = comfyui.prepare(aRequest()).generate(aRun({ signal: lost.signal }));
    await eventually('the run', async () => stub.engine.running);
    lost.abort('shutdown');
    await expect(first).rejects.toBe('shutdown');
    const upstreamId = await comfyui.find(aRequest(), new AbortController().signal);
    expect(upstreamId).toBe(promptId(TASK, 0));
    stub.engine.held = false;
    const run = aRun({ upstreamId, submittedBefore: true });
    expect(await comfyui.prepare(aRequest()).generate(run)).toHaveLength(1);
    expect(run.acts).toEqual([]);
    expect(stub.submits).toHaveLength(1);
    expect(await comfyui.find(aRequest(), new AbortController().signal)).toBe(upstreamId); // from the history
  });

  it('continues in the middle of several runs, and submits no run twice', async () => {
    const upstream = { ...aRequest().upstream, model: aTemplate(aWorkflow()) };
    const request = aRequest({ n: 3 }, { upstream });
    const whole = await comfyui.prepare(request).generate(aRun());
    expect(whole).toHaveLength(3);
    stub.submits.length = 0;
    delete stub.engine.history[promptId(TASK, 2)];
    const run = aRun({ upstreamId: `${promptId(TASK, 0)},?`, submittedBefore: true });
    expect(await comfyui.prepare(request).generate(run)).toHaveLength(3);
    expect(stub.submits).toEqual([promptId(TASK, 2)]);
  });

  it('finds nothing where nothing was submitted', async () => {
    expect(await comfyui.find(aRequest(), new AbortController().signal)).toBeNull();
  });

  it('refuses a server that gives runs its own ids', async () => {
    stub.ignoresPromptId = true;
    stub.engine.held = true;
    const error = await failureOf(comfyui.prepare(aRequest()).generate(aRun()));
    expect(error).toMatchObject({ code: 'internal_error', cause: { code: 'prompt_id_ignored' } });
    await eventually('its end', async () => stub.engine.ends.some(({ how }) => how === 'interrupted'));
  });
});

describe('failures', () => {
  const missing = 'qwen_image_vae.safetensors';

  it.each<[string, number, string, string]>([
    ['bad credential', 401, 'provider_rejected', 'none'],
    ['no access', 403, 'provider_rejected', 'none'],
    ['no such path', 404, 'provider_rejected', 'none'],
    ['bad request', 400, 'provider_rejected', 'none'],
    ['too large', 413, 'provider_rejected', 'none'],
    ['not understood', 422, 'provider_rejected', 'none'],
    ['no credit', 402, 'provider_quota_exceeded', 'none'],
    ['too many', 429, 'provider_unavailable', 'none'],
    ['down for a while', 503, 'provider_unavailable', 'none'],
  ])('%s: %i is %s', async (_what, status, code, billing) => {
    stub.next('POST /prompt', { status, headers: { 'retry-after': '7' } });
    const error = await failureOf(comfyui.prepare(aRequest()).generate(aRun()));
    expect(error).toMatchObject({
      code,
      billing,
      ...(status === 429 || status === 503 ? { retryAfterMs: 7_000 } : {}),
    });
    expect(stub.requests.filter(({ path }) => path === '/prompt')).toHaveLength(1);
  });

  it('names the missing file to the operator and not to the client', async () => {
    stub.missing.add(missing);
    const error = await failureOf(comfyui.prepare(aRequest()).generate(aRun()));
    expect(error).toMatchObject({ code: 'provider_rejected', billing: 'none' });
    expect(error.message).not.toContain(missing);
    expect(JSON.stringify(error.cause)).toContain(
      `VAELoader: value_not_in_list Value not in list vae_name: '${missing}'`,
    );
  });

  it('is not billed when the server is down', async () => {
    const request = aRequest();
    await stub.stop();
    const error = await failureOf(comfyui.prepare(request).generate(aRun()));
    expect(error).toMatchObject({ code: 'provider_unavailable', billing: 'none' });
    stub = await new ComfyuiStub().start();
  });

  it.each<[Fault, string]>([
    ['reset', 'provider_unavailable'],
    [{ status: 500 }, 'provider_unavailable'],
    ['junk', 'provider_unavailable'],
    [{ status: 403 }, 'provider_rejected'],
  ])('an upload that fails with %j is not billed', async (fault, code) => {
    stub.next('POST /upload/image', fault);
    const images = { references: [await anImage('red')], firstFrame: null };
    const run = aRun();
    const error = await failureOf(
      comfyui.prepare(aRequest({ reference_images: ['https://a/1'] }, { images })).generate(run),
    );
    expect(error).toMatchObject({ code, billing: 'none' });
    expect(run.acts).toEqual([]);
  });

  it('a failed node is an internal error', async () => {
    stub.engine.failing = true;
    const error = await failureOf(comfyui.prepare(aRequest()).generate(aRun()));
    expect(error).toMatchObject({ code: 'internal_error', billing: 'charged', cause: { code: 'execution_error' } });
    expect(JSON.stringify(error.cause)).toContain('KSampler: torch.OutOfMemoryError');
  });

  it('a run interrupted at the server may be retried', async () => {
    stub.engine.held = true;
    const result = failureOf(comfyui.prepare(aRequest()).generate(aRun()));
    await eventually('the run', async () => stub.engine.running);
    stub.engine.interrupt();
    expect(await result).toMatchObject({ code: 'provider_unavailable', billing: 'charged' });
  });

  describe('a run that the server has lost', () => {
    const severalRuns = () => ({ ...aRequest().upstream, model: aTemplate(aWorkflow()) });
    const ids = [0, 1, 2].map((index) => promptId(TASK, index));

    it('is made again under its id after a restart, which costs one attempt however many runs are lost', async () => {
      stub.engine.held = true;
      const run = aRun();
      const result = comfyui.prepare(aRequest({ n: 3 }, { upstream: severalRuns() })).generate(run);
      await eventually('the submits', async () => stub.submits.length === 3);
      await stub.kill();
      stub.engine.held = false;
      await stub.listen();
      expect(await result).toHaveLength(3);
      expect(stub.submits.toSorted()).toEqual([...ids, ...ids].toSorted());
      expect(run.acts.filter((act) => act === 'resubmitting')).toHaveLength(1);
    });

    it('is the only one that is made again after a user has cleared the queue', async () => {
      stub.engine.held = true;
      const result = comfyui.prepare(aRequest({ n: 3 }, { upstream: severalRuns() })).generate(aRun());
      await eventually('the submits', async () => stub.submits.length === 3);
      stub.engine.pending.length = 0;
      await eventually('the submits after the clear', async () => stub.submits.length === 5);
      stub.engine.held = false;
      expect(await result).toHaveLength(3);
      expect(stub.submits.filter((id) => id === ids[0])).toHaveLength(1);
    });

    it('uploads its images again', async () => {
      stub.engine.held = true;
      const images = { references: [await anImage('red')], firstFrame: null };
      const request = aRequest({ reference_images: ['https://a/1'] }, { images });
      const result = comfyui.prepare(request).generate(aRun());
      await eventually('the submit', async () => stub.submits.length === 1);
      stub.engine.forget();
      stub.uploads.clear();
      stub.engine.held = false;
      expect(await result).toHaveLength(1);
    });

    it('fails the task at its last attempt', async () => {
      stub.engine.held = true;
      const run = aRun({ resubmitting: async () => false });
      const result = failureOf(comfyui.prepare(aRequest()).generate(run));
      await eventually('the run', async () => stub.engine.running);
      stub.engine.forget();
      expect(await result).toMatchObject({ code: 'provider_unavailable' });
      expect(stub.submits).toHaveLength(1);
    });

    it('and was continued without its images is not billed, so that the task begins again with them', async () => {
      const template = { workflows: [aFilm({ image: '{{image}}' })], frames_per_second: 24 };
      const film = aRequest(
        {
          reference_image_url: 'https://a/1',
          reference_mode: 'omni',
          aspect_ratio: '16:9',
          resolution: '720p',
          duration: 5,
          n: undefined,
        },
        { kind: 'video', model: 'seedance-2', upstream: { ...aRequest().upstream, model: aTemplate(template) } },
      );
      const run = aRun({ upstreamId: promptId(TASK, 0), submittedBefore: true });
      const failure = await failureOf(comfyui.prepare(film).generate(run));
      expect(failure).toMatchObject({ code: 'provider_unavailable', billing: 'none', cause: { code: 'run_lost' } });
    });
  });

  it('a run that is missing twice in a row is not lost', async () => {
    stub.engine.nodeMs = 20;
    const silence = { status: 200, body: { queue_running: [], queue_pending: [] } };
    stub.next('GET /queue', silence, silence);
    expect(await comfyui.prepare(aRequest()).generate(aRun())).toHaveLength(1);
  });

  it.each(['none', 'temp', 'one less'] as const)('missing files (%s) are a failure', async (outputs) => {
    stub.engine.outputs = outputs;
    expect(await failureOf(comfyui.prepare(aRequest({ n: 2 })).generate(aRun()))).toMatchObject({
      code: 'internal_error',
    });
  });

  it('retries temporary failures of the server, and downloads a file again', async () => {
    stub.next('GET /history/*', 'reset', { status: 502 }, 'junk', { status: 429 }, { status: 404 }, { status: 404 });
    stub.next('GET /queue', { status: 500 }, 'reset');
    stub.next('GET /view', 'reset', { status: 503 });
    expect(await comfyui.prepare(aRequest()).generate(aRun())).toHaveLength(1);
    expect(stub.submits).toHaveLength(1);
  });

  it('sends the key with every request and logs it nowhere', async () => {
    stub.key = 'secret-of-the-proxy';
    const upstream = { ...aRequest().upstream, apiKey: stub.key };
    expect(await comfyui.prepare(aRequest({}, { upstream })).generate(aRun())).toHaveLength(1);
    expect(stub.socketCount).toBe(1);
    stub.next('POST /prompt', { status: 401, body: { error: { type: 'x', message: `bad key ${stub.key}` } } });
    const error = await failureOf(comfyui.prepare(aRequest({}, { upstream })).generate(aRun()));
    expect(JSON.stringify(error.cause)).not.toContain(stub.key);
  });
});

describe('stopping', () => {
  it.each([
    ['while it runs', async () => eventually('the run', async () => stub.engine.running)],
    [
      'while no answer comes',
      async () => eventually('the call', async () => stub.requests.some((r) => r.path === '/queue')),
    ],
  ])('settles %s', async (what, until) => {
    stopClock(); // so that no time-out ends the call
    stub.engine.held = true;
    if (what.includes('no answer')) stub.next('GET /queue', 'hang');
    const stop = new AbortController();
    const result = comfyui.prepare(aRequest()).generate(aRun({ signal: stop.signal }));
    result.catch(() => undefined);
    await until();
    stop.abort('deadline');
    await expect(result).rejects.toBe('deadline');
    expect(stub.engine.running).not.toBeNull(); // the engine cancels upstream, not the run
  });

  it.each([true, false])(
    'cancels a running and a pending run, and no run of another task (newer server: %s)',
    async (modern) => {
      stub.modern = modern;
      stub.engine.held = true;
      const requests = ['a', 'b', 'c'].map((name) => ({ ...aRequest(), taskId: `task_${name}` }));
      const { signal } = new AbortController();
      const runs = requests.map((request) =>
        comfyui
          .prepare(request)
          .generate(aRun({ signal }))
          .catch((error: unknown) => error),
      );
      await eventually('three runs', async () => stub.submits.length === 3 && stub.engine.running);
      const [running, waiting, kept] = [...stub.submits];
      const requestOf = (id = '') => requests.find(({ taskId }) => promptId(taskId, 0) === id) ?? aRequest();
      await comfyui.cancel(requestOf(waiting), waiting ?? '', signal);
      expect(stub.engine.running?.id).toBe(running);
      await comfyui.cancel(requestOf(running), running ?? '', signal);
      await eventually('the third', async () => stub.engine.running?.id === kept);
      await comfyui.cancel(requestOf(running), running ?? '', signal); // once more: harmless
      expect(stub.engine.ends).toEqual([{ id: running, how: 'interrupted' }]);
      stub.engine.held = false;
      await eventually('its end', async () => stub.engine.ends.length === 2);
      expect(stub.engine.ends[1]).toEqual({ id: kept, how: 'success' });
      await Promise.all(runs);
      const interrupts = stub.requests.filter(({ path }) => path === '/interrupt');
      expect(interrupts.map(({ json }) => json)).toEqual(modern ? [] : [{ prompt_id: running }]);
    },
  );
});

it('the guide shows a workflow file that works', async () => {
  const guide = readFileSync(new URL('../../../docs/guides/providers.md', import.meta.url), 'utf8');
  const examples = [...guide.matchAll(/```json\n([\s\S]*?)```/g)].map(([, json = '']) => JSON.parse(json) as unknown);
  expect(examples).toHaveLength(2); // the other is a node
  const upstream = { ...aRequest().upstream, model: aTemplate(examples[0]) };
  expect(await comfyui.prepare(aRequest({ n: 2 }, { upstream })).generate(aRun())).toHaveLength(2);
});
