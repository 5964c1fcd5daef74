import sharp from 'sharp';
import { JobContext, until } from '../../../test/support/stubs/job-context.ts';
import {
  failureOf,
  imageFile,
  inputImage,
  type RecordedRun,
  requestFor,
} from '../../../test/support/stubs/recorded-run.ts';
import type { Fault } from '../../../test/support/stubs/stub-http.ts';
import { ReplicateStub, type ReplicateEnding } from '../../../test/support/stubs/replicate.stub.ts';
import { findModel } from '../../models/catalog.ts';
import { valuesOf } from '../../models/definition/parameters.ts';
import { newTaskId } from '../../tasks/record/task-id.ts';
import { probe } from '../../generation/images/probe.ts';
import { type InputImage, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { replicateProvider } from './replicate.provider.ts';

const replicate = replicateProvider;
const CREATE = /^POST \/v1\/models\//;
const LIST = /^GET \/v1\/predictions$/;
const DELIVER = /^GET \/delivery\//;
let stub: ReplicateStub;
let run: RecordedRun;
let picture: ProviderRequest;
let film: ProviderRequest;

const ground = new JobContext({
  provider: replicate,
  newStub: () => new ReplicateStub(),
  baseUrlOf: (stub) => stub.baseUrl,
  models: { picture: 'openai/gpt-image-2', film: 'bytedance/seedance-2.0' },
});
beforeEach(async () => {
  ({ stub, run, picture, film } = await ground.fresh());
});
afterEach(() => ground.clear());

const inputs = () => [...stub.predictions.values()].map(({ input }) => input);
const ID = (n: number) => `pred${String(n).padStart(22, '0')}`;
const nano = (model: 'nano-banana-2' | 'nano-banana-pro') =>
  requestFor(picture, { model, input: { resolution: '2K' }, upstream: { model: `google/${model}` } });
const withReferences = (request: ProviderRequest, references: InputImage[]) =>
  requestFor(request, {
    input: { reference_images: references.map((_, at) => `https://a.example/${at}.png`) },
    images: { references, firstFrame: null },
  });

describe('gpt-image-2', () => {
  it('is recognised by the probe, and so is a video', async () => {
    stub.real = true;
    const [shot] = await replicate.prepare(picture).generate(run);
    expect(await probe(shot!)).toMatchObject({ type: 'image', contentType: 'image/png' });
    const [reel] = await replicate.prepare(film).generate(ground.freshRun());
    expect(await probe(reel!)).toMatchObject({ type: 'video', duration: 5 });
  });

  it.each(['white', 'alpha'] as const)('is asked for with a mask as the declaration wants it: %s', async (form) => {
    const mask = await inputImage(8, 8);
    const declared = { provider: 'replicate' as const, mask: form, send: { prompt: '{{prompt}}', hole: '{{mask}}' } };
    const request = requestFor(picture, {
      upstream: { model: 'acme/inpaint', declared },
      images: { references: [], firstFrame: null, mask },
    });
    await failureOf(replicate.prepare(request).generate(run)); // the stub has no such model
    const sent = String((stub.requests[0]!.fields.input as { hole: string }).hole);
    expect((await sharp(Buffer.from(sent.slice(sent.indexOf(',') + 1), 'base64')).metadata()).hasAlpha).toBe(
      form === 'alpha',
    );
  });

  it('makes all images in one prediction', async () => {
    expect(await ground.made(requestFor(picture, { input: { n: 10 } }))).toEqual(
      Array.from({ length: 10 }, (_, at) => `output ${at} of ${ID(1)}`),
    );
    expect(stub.submits).toBe(1);
    expect(run.calls).toEqual(['submitting', `submitted ${ID(1)}`]);
    expect(inputs()).toEqual([
      { prompt: 'a fox', aspect_ratio: 'auto', quality: 'auto', number_of_images: 10, output_format: 'png' },
    ]);
  });

  it('makes at most max_n images in one prediction', async () => {
    const upstream = { ...picture.upstream, declared: { provider: 'replicate' as const, max_n: 4 } };
    const made = await ground.made(requestFor(picture, { upstream, input: { n: 10 } }));
    expect([made.length, new Set(made).size]).toEqual([10, 10]);
    expect(inputs().map(({ number_of_images: n }) => n)).toEqual([4, 4, 2]);
  });

  it('is asked for at most max_n images with an input that is written out, each time with its own seed', async () => {
    const send = { prompt: '{{prompt}} {{seed}} {{index}}', aspect_ratio: 'auto', number_of_images: '{{n}}' };
    const upstream = { ...picture.upstream, declared: { provider: 'replicate' as const, max_n: 2, send } };
    const made = await ground.made(requestFor(picture, { upstream, input: { n: 3, seed: 7 } }));
    expect([made.length, new Set(made).size]).toEqual([3, 3]);
    expect(inputs()).toEqual([
      { prompt: 'a fox 7 0', aspect_ratio: 'auto', number_of_images: 2 },
      { prompt: 'a fox 9 2', aspect_ratio: 'auto', number_of_images: 1 },
    ]);
  });

  it('passes the requested quality on; the nano-bananas have none', async () => {
    await ground.made(requestFor(picture, { input: { quality: 'high' } }));
    expect(inputs()).toMatchObject([{ quality: 'high' }]);
    const request = requestFor(nano('nano-banana-2'), { input: { quality: 'high', aspect_ratio: '1:1' } });
    expect(replicate.prepare(request).approximations).toEqual([{ param: 'quality', requested: 'high', used: 'auto' }]);
  });

  it('supports these ratios and resolutions, and leaves the rest to another provider', async () => {
    const { parameters } = findModel('gpt-image-2')!;
    const fit: string[] = [];
    for (const ratio of valuesOf(parameters, 'aspect_ratio'))
      for (const size of valuesOf(parameters, 'resolution')) {
        const request = requestFor(picture, { input: { aspect_ratio: ratio, resolution: size } });
        try {
          replicate.prepare(request);
        } catch (error) {
          expect(error).toBeInstanceOf(UnsupportedRequest);
          continue;
        }
        await ground.made(request, ground.freshRun());
        fit.push(`${ratio} ${size} ${inputs().at(-1)?.aspect_ratio}`);
      }
    expect(fit.sort()).toEqual(
      [
        ...['auto', '1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16'].map((ratio) => `${ratio} 1K ${ratio}`),
        'auto 2K 2048x2048',
        '1:1 2K 2048x2048',
        '16:9 2K 2048x1152',
        '9:16 2K 1152x2048',
        'auto 4K 3840x2160',
        '16:9 4K 3840x2160',
        '9:16 4K 2160x3840',
      ].sort(),
    );
  });

  it('of ratio auto above 1K uses the ratio nearest to the first reference image, and records it', async () => {
    const request = withReferences(requestFor(picture, { input: { resolution: '4K' } }), [await inputImage(600, 1000)]);
    expect(replicate.prepare(request).approximations).toEqual([
      { param: 'aspect_ratio', requested: 'auto', used: '9:16' },
    ]);
    await ground.made(request);
    expect(inputs()[0]).toMatchObject({
      aspect_ratio: '2160x3840',
      input_images: [expect.stringMatching(/^data:image\/png/)],
    });
  });

  it('uploads large images before the intent to pay is recorded', async () => {
    const bytes = Buffer.alloc(300_000, 7);
    const large = imageFile(bytes, { contentType: 'image/webp', width: 9, height: 9 });
    await ground.made(withReferences(picture, [await inputImage(9, 9), large]));
    const [, address] = inputs()[0]!.input_images as string[];
    const upload = stub.uploads.get(address!)!;
    expect([upload.type, upload.bytes.equals(bytes)]).toEqual(['image/webp', true]); // toEqual takes long for many bytes
    expect(stub.requests.map(({ path }) => path).slice(0, 2)).toEqual([
      '/v1/files',
      '/v1/models/openai/gpt-image-2/predictions',
    ]);
  });

  it.each<[string, Fault, string]>([
    ['500', { reply: { status: 500, body: {} } }, 'provider_unavailable'],
    ['cut', { cut: 'after' }, 'provider_unavailable'],
    ['429', { reply: { status: 429, body: {} } }, 'provider_unavailable'],
    ['413', { reply: { status: 413, body: {} } }, 'provider_rejected'],
    ['junk', { reply: { status: 200, body: '<html>' } }, 'provider_unavailable'],
  ])('an upload that fails with %s is not billed', async (_what, fault, code) => {
    stub.plan(/files$/, fault);
    const large = imageFile(Buffer.alloc(300_000), { contentType: 'image/png', width: 9, height: 9 });
    expect(await failureOf(replicate.prepare(withReferences(picture, [large])).generate(run))).toMatchObject({
      code,
      billing: 'none',
    });
    expect([run.calls, stub.submits]).toEqual([[], 0]);
  });
});

describe.each(['nano-banana-2', 'nano-banana-pro'] as const)('%s', (model) => {
  it('requests every ratio and resolution by name', async () => {
    stub.steps = { starting: 0, processing: 0 };
    const { parameters } = findModel(model)!;
    for (const ratio of valuesOf(parameters, 'aspect_ratio'))
      for (const size of valuesOf(parameters, 'resolution')) {
        const request = requestFor(nano(model), { input: { aspect_ratio: ratio, resolution: size } });
        await ground.made(request, ground.freshRun());
        const isPro = model === 'nano-banana-pro';
        const free = isPro ? '1:1' : undefined;
        expect(inputs().at(-1)?.aspect_ratio).toBe(ratio === 'auto' ? free : ratio);
        expect(inputs().at(-1)?.resolution).toBe(size);
        expect(inputs().at(-1)?.allow_fallback_model).toBe(isPro ? false : undefined);
        expect(replicate.prepare(request).approximations).toHaveLength(isPro && ratio === 'auto' ? 1 : 0);
      }
  });

  it('of ratio auto with images matches the first', async () => {
    const request = withReferences(nano(model), [await inputImage(9, 9)]);
    expect(replicate.prepare(request).approximations).toEqual([]);
    await ground.made(request);
    expect(inputs()[0]).toMatchObject({ aspect_ratio: 'match_input_image', image_input: [expect.any(String)] });
  });

  it('makes one prediction per image, with each intent recorded before the call; output as text or list', async () => {
    stub.outputAsList = model === 'nano-banana-2';
    expect(await ground.made(requestFor(nano(model), { input: { n: 3 } }))).toEqual(
      [1, 2, 3].map((n) => `output 0 of ${ID(n)}`),
    );
    expect(stub.submits).toBe(3);
    expect(run.calls).toEqual([
      'submitting',
      `submitted ${ID(1)}`,
      `submitted ${ID(1)},?`,
      `submitted ${ID(1)},${ID(2)}`,
      `submitted ${ID(1)},${ID(2)},?`,
      `submitted ${ID(1)},${ID(2)},${ID(3)}`,
    ]);
  });
});

describe('seedance', () => {
  const FIRST = { first_frame_image_url: 'https://a.example/1.png' };
  const REFERENCE = { reference_image_url: 'https://a.example/2.png' };

  it.each([
    ['sora-2', 'omni', {}, [], 0],
    ['sora-2', 'omni', FIRST, ['reference_images'], 0],
    ['sora-2', 'first_last', FIRST, ['image'], 1],
    ['sora-2', 'multi_frame', FIRST, ['reference_images'], 1],
    ['seedance-2', 'omni', FIRST, ['image'], 0],
    ['seedance-2', 'first_frame', FIRST, ['image'], 0],
    ['seedance-2', 'omni', REFERENCE, ['reference_images'], 0],
    ['seedance-2', 'omni', { ...FIRST, ...REFERENCE }, ['reference_images'], 1],
  ])('as %s in mode %s with %j is sent %j', async (model, reference_mode, urls, fields, approximations) => {
    const image = await inputImage(400, 300);
    const request = requestFor(film, {
      model,
      input: { reference_mode, ...urls },
      images: {
        firstFrame: 'first_frame_image_url' in urls ? image : null,
        references: 'reference_image_url' in urls ? [image] : [],
      },
    });
    expect(replicate.prepare(request).approximations).toHaveLength(approximations);
    expect(await ground.made(request)).toEqual([`output 0 of ${ID(1)}`]);
    expect(Object.keys(inputs()[0]!).filter((name) => /image/.test(name))).toEqual(fields);
  });

  it('supports every ratio, resolution and duration', async () => {
    stub.steps = { starting: 0, processing: 0 };
    for (const aspect_ratio of ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'])
      for (const resolution of ['720p', '1080p', '720P', '1080P', '4K']) {
        await ground.made(requestFor(film, { input: { aspect_ratio, resolution } }), ground.freshRun());
        expect(inputs().at(-1)).toMatchObject({
          aspect_ratio,
          resolution: resolution.toLowerCase(),
          generate_audio: true,
        });
      }
    for (let duration = 4; duration <= 15; duration++) {
      await ground.made(requestFor(film, { input: { duration } }), ground.freshRun());
      expect(inputs().at(-1)).toMatchObject({ duration });
    }
    expect(() => replicate.prepare(requestFor(film, { input: { duration: 3 } })).approximations).toThrow(
      UnsupportedRequest,
    );
    expect(() => replicate.prepare(requestFor(film, { input: { prompt: 'x'.repeat(4001) } })).approximations).toThrow(
      UnsupportedRequest,
    );
  });
});

describe('a create call that is refused', () => {
  it.each<[number, object, string, string, number | undefined]>([
    [401, { detail: 'no' }, 'provider_rejected', 'none', undefined],
    [402, { detail: 'no credit' }, 'provider_quota_exceeded', 'none', undefined],
    [404, { detail: 'no' }, 'provider_rejected', 'none', undefined],
    [422, { title: 'Input validation failed', detail: 'x' }, 'provider_rejected', 'none', undefined],
    [422, { detail: 'flagged as sensitive' }, 'content_policy_violation', 'none', undefined],
    [429, { detail: 'Your rate limit resets in ~30s.' }, 'provider_unavailable', 'none', 30_000],
    [500, { detail: 'no' }, 'provider_outcome_unknown', 'unknown', undefined],
    [503, { detail: 'no' }, 'provider_outcome_unknown', 'unknown', undefined],
    [201, {}, 'provider_outcome_unknown', 'unknown', undefined],
  ])('with %d %j is %s, billing: %s, and sent once', async (status, body, code, billing, retryAfterMs) => {
    stub.plan(CREATE, { reply: { status, body } });
    const failure = await failureOf(replicate.prepare(picture).generate(run));
    expect(failure).toMatchObject({ code, billing, cause: { provider: 'replicate', status } });
    expect(failure.retryAfterMs).toBe(retryAfterMs);
    expect(stub.count(CREATE)).toBe(1);
  });

  it('with a lost answer has an unknown outcome for an image; a video is found in the list', async () => {
    stub.pageSize = 1;
    stub.plan(CREATE, { cut: 'after' }, { cut: 'after' }, { delayMs: 0 });
    expect(await failureOf(replicate.prepare(picture).generate(ground.freshRun()))).toMatchObject({
      billing: 'unknown',
    });
    const other = { ...film, taskId: newTaskId() };
    expect(await ground.made(film)).toEqual([`output 0 of ${ID(2)}`]);
    await ground.made(other, ground.freshRun());
    expect(run.calls).toEqual(['submitting', `submitted ${ID(2)}`]);
    expect(stub.submits).toBe(3);
    const { signal } = new AbortController();
    expect(await replicate.find!(film, signal, Date.now())).toBe(ID(2));
    expect(await replicate.find!({ ...film, taskId: newTaskId() }, signal, Date.now())).toBeNull();
    expect(stub.requests.filter(({ path }) => path === '/v1/predictions').every(({ key }) => key === 'right')).toBe(
      true,
    );
    expect(await failureOf(replicate.find!(picture, signal, Date.now()))).toMatchObject({
      code: 'provider_outcome_unknown',
    });
  });

  it('does not mistake an answer without a list for an empty list', async () => {
    stub.plan(LIST, { reply: { status: 200, body: {} } });
    const { signal } = new AbortController();
    expect(await failureOf(replicate.find!(film, signal, Date.now()))).toMatchObject({
      code: 'provider_outcome_unknown',
    });
  });

  it('stays unknown for a video that is not in the list', async () => {
    stub.plan(CREATE, { cut: 'before' });
    expect(await failureOf(replicate.prepare(film).generate(run))).toMatchObject({
      code: 'provider_outcome_unknown',
      billing: 'unknown',
    });
    expect([stub.count(CREATE), stub.count(LIST)]).toEqual([1, 3]);
  });
});

describe('a prediction that ends', () => {
  it.each<[ReplicateEnding, string]>([
    ['canceled', 'internal_error'],
    ['aborted', 'provider_timeout'],
    ['no output', 'provider_no_result'],
    [{ error: 'The input or output was flagged as sensitive. (E005)' }, 'content_policy_violation'],
    [{ error: 'Prediction interrupted; please retry (code: PA)' }, 'provider_unavailable'],
    [{ error: 'Service is temporarily unavailable due to high demand' }, 'provider_unavailable'],
    [{ error: 'The request timed out' }, 'provider_timeout'],
    [{ error: 'unsupported aspect ratio' }, 'provider_rejected'],
    [{ error: 'unknown reason' }, 'internal_error'],
  ])('with %j is %s, charged', async (ending, code) => {
    stub.endings.push(ending);
    expect(await failureOf(replicate.prepare(picture).generate(run))).toMatchObject({ code, billing: 'charged' });
    expect(stub.submits).toBe(1);
  });

  it('and is read too late has no output any longer', async () => {
    const hourLater = Promise.withResolvers<void>();
    stub.plan(DELIVER, { after: hourLater.promise });
    stub.steps = { starting: 0, processing: 0 };
    const going = failureOf(replicate.prepare(film).generate(run));
    await until(() => stub.count(DELIVER) === 1);
    stub.aheadMs = 2 * 3_600_000;
    hourLater.resolve();
    expect(await going).toMatchObject({ code: 'provider_no_result', billing: 'charged' });
  });

  it('reports the progress from the bar in its logs', async () => {
    stub.steps = { starting: 2, processing: 2 };
    await ground.made(film);
    expect(run.percents).toContain(60);
  });
});

describe('stopping', () => {
  it('cancels every prediction of a task', async () => {
    stub.endings.push('never', 'never');
    const two = requestFor(nano('nano-banana-2'), { input: { n: 2 } });
    const going = failureOf(replicate.prepare(two).generate(run));
    await until(() => run.calls.length === 4);
    run.stop('ended');
    await going;
    await replicate.cancel(two, `${ID(1)},${ID(2)}`, new AbortController().signal);
    expect([...stub.predictions.values()].map(({ canceled }) => canceled)).toEqual([true, true]);
  });
});
