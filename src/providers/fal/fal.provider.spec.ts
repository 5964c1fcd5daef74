import sharp from 'sharp';
import { FalStub, type FalEnding } from '../../../test/support/stubs/fal.stub.ts';
import { JobContext, until } from '../../../test/support/stubs/job-context.ts';
import { failureOf, inputImage, type RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import type { Fault } from '../../../test/support/stubs/stub-http.ts';
import { findModel } from '../../models/catalog.ts';
import { valuesOf } from '../../models/definition/parameters.ts';
import { probe } from '../../generation/images/probe.ts';
import { type InputImage, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { falProvider } from './fal.provider.ts';

const fal = falProvider;
const SUBMIT = /^POST /;
const RESULT = /^GET .*\/requests\/[^/]+$/;
let stub: FalStub;
let run: RecordedRun;
let picture: ProviderRequest;
let film: ProviderRequest;

const ground = new JobContext({
  provider: fal,
  newStub: () => new FalStub(),
  baseUrlOf: (stub) => stub.origin,
  models: { picture: 'openai/gpt-image-2', film: 'bytedance/seedance-2.0' },
});
beforeEach(async () => {
  ({ stub, run, picture, film } = await ground.fresh());
});
afterEach(() => ground.clear());

const jobs = () => [...stub.jobs.values()];
const last = () => jobs().at(-1);
const ID = (n: number) => `0000000${n}-1111-4222-8333-444444444444`;
const nano = (model: 'nano-banana-2' | 'nano-banana-pro') =>
  requestFor(picture, { model, input: { resolution: '2K' }, upstream: { model: `fal-ai/${model}` } });
const withReferences = (request: ProviderRequest, references: InputImage[]) =>
  requestFor(request, {
    input: { reference_images: references.map((_, at) => `https://a.example/${at}.png`) },
    images: { references, firstFrame: null },
  });

describe('images', () => {
  it('are recognised by the probe, and so is a video', async () => {
    stub.real = true;
    const [shot] = await fal.prepare(requestFor(picture, { input: { aspect_ratio: '21:9' } })).generate(run);
    expect(await probe(shot!)).toMatchObject({ type: 'image', width: 1568, height: 672 });
    const [reel] = await fal.prepare(film).generate(ground.freshRun());
    expect(await probe(reel!)).toMatchObject({ type: 'video', duration: 5 });
  });

  it('are submitted once, polled under the first two segments, and downloaded', async () => {
    expect(await ground.made(requestFor(picture, { input: { n: 3 } }))).toEqual(
      [0, 1, 2].map((at) => `output ${at} of ${ID(1)}`),
    );
    expect(stub.submits).toBe(1);
    expect(run.calls).toEqual(['submitting', `submitted ${ID(1)}`]);
    expect(stub.requests.filter(({ path }) => path.startsWith('/openai/gpt-image-2/requests/'))).not.toEqual([]);
    expect(stub.requests.every(({ key, path }) => key === (path.startsWith('/files') ? 'none' : 'right'))).toBe(true);
    expect(last()?.fields).toEqual({
      prompt: 'a fox',
      image_size: 'auto',
      quality: 'auto',
      num_images: 3,
      output_format: 'png',
    });
  });

  it.each(['white', 'alpha'] as const)('are asked for with a mask as the declaration wants it: %s', async (form) => {
    const mask = await inputImage(8, 8);
    const declared = { provider: 'fal' as const, mask: form, send: { prompt: '{{prompt}}', hole: '{{mask}}' } };
    const request = requestFor(picture, {
      upstream: { model: 'fal-ai/flux/inpaint', declared },
      images: { references: [], firstFrame: null, mask },
    });
    await failureOf(fal.prepare(request).generate(run)); // the stub has no such endpoint
    const sent = String(stub.requests[0]!.fields.hole);
    expect((await sharp(Buffer.from(sent.slice(sent.indexOf(',') + 1), 'base64')).metadata()).hasAlpha).toBe(
      form === 'alpha',
    );
  });

  it('are made in the requested quality by gpt-image-2; the nano-bananas have none', async () => {
    await ground.made(requestFor(picture, { input: { quality: 'low' } }));
    expect(last()?.fields).toMatchObject({ quality: 'low' });
    const { approximations } = fal.prepare(requestFor(nano('nano-banana-2'), { input: { quality: 'low' } }));
    expect(approximations).toEqual([{ param: 'quality', requested: 'low', used: 'auto' }]);
  });

  it('of every ratio and resolution of gpt-image-2 are requested in pixels', async () => {
    stub.steps = { queued: 0, running: 0 };
    const { parameters } = findModel('gpt-image-2')!;
    for (const ratio of valuesOf(parameters, 'aspect_ratio')) {
      for (const size of valuesOf(parameters, 'resolution')) {
        const request = requestFor(picture, { input: { aspect_ratio: ratio, resolution: size } });
        const isChosen = ratio === 'auto' && size !== '1K';
        const noted = isChosen ? [{ param: 'aspect_ratio', requested: 'auto', used: '1:1' }] : [];
        expect(fal.prepare(request).approximations).toEqual(noted);
        await ground.made(request, ground.freshRun());
      }
    }
    expect(stub.submits).toBe(33);
    const sizes = new Set(jobs().map(({ fields }) => JSON.stringify(fields.image_size)));
    expect(sizes.size).toBe(31); // 10 ratios in 3 resolutions, and "auto"
    expect(sizes).toContain('{"width":3808,"height":1632}');
  });

  it('of ratio auto above 1K take the ratio nearest to the first reference image', async () => {
    const request = withReferences(requestFor(picture, { input: { resolution: '4K' } }), [await inputImage(700, 1000)]);
    expect(fal.prepare(request).approximations).toEqual([{ param: 'aspect_ratio', requested: 'auto', used: '2:3' }]);
    await ground.made(request);
    expect(last()).toMatchObject({
      endpoint: 'openai/gpt-image-2/edit',
      fields: {
        image_size: { width: 2336, height: 3504 },
        image_urls: [expect.stringMatching(/^data:image\/png;base64,/)],
      },
    });
  });

  it.each(['nano-banana-2', 'nano-banana-pro'] as const)(
    'of every ratio and resolution of %s are requested by name',
    async (model) => {
      stub.steps = { queued: 0, running: 0 };
      const { parameters } = findModel(model)!;
      for (const ratio of valuesOf(parameters, 'aspect_ratio')) {
        for (const size of valuesOf(parameters, 'resolution')) {
          const request = requestFor(nano(model), { input: { aspect_ratio: ratio, resolution: size } });
          expect(fal.prepare(request).approximations).toEqual([]);
          await ground.made(request, ground.freshRun());
          expect(last()).toMatchObject({
            endpoint: `fal-ai/${model}`,
            fields: { aspect_ratio: ratio, resolution: size },
          });
        }
      }
      await ground.made(withReferences(nano(model), [await inputImage(20, 20), await inputImage(30, 20, 'webp')]));
      expect(last()?.endpoint).toBe(`fal-ai/${model}/edit`);
      expect(last()?.fields.image_urls).toHaveLength(2);
    },
  );

  it.each([
    [4, [4]],
    [5, [4, 1]],
    [10, [4, 4, 2]],
  ])('%d at once are requested as %j, in order, with each intent recorded before the call', async (n, parts) => {
    const outputs = await ground.made(requestFor(picture, { input: { n } }));
    expect(outputs).toHaveLength(n);
    expect(outputs[0]).toBe(`output 0 of ${ID(1)}`);
    expect(new Set(outputs).size).toBe(n);
    expect(jobs().map(({ fields }) => fields.num_images)).toEqual(parts);
    const ids = parts.map((_, at) => ID(at + 1));
    const submitted = ids.flatMap((_, at) => {
      const known = ids.slice(0, at).join(',');
      return [...(at > 0 ? [`submitted ${known},?`] : []), `submitted ${ids.slice(0, at + 1).join(',')}`];
    });
    expect(run.calls).toEqual(['submitting', ...submitted]);
  });

  it('more than fal accepts, or of a model with unknown inputs, are not tried', async () => {
    const many = Array.from({ length: 17 }, async () => inputImage(8, 8));
    expect(() => fal.prepare(requestFor(picture, { upstream: { model: 'fal-ai/flux/dev' } })).approximations).toThrow(
      UnsupportedRequest,
    );
    expect(() => fal.prepare({ ...film, upstream: picture.upstream }).approximations).toThrow(UnsupportedRequest);
    expect(
      () => fal.prepare(requestFor(nano('nano-banana-2'), { input: { aspect_ratio: '9:21' } })).approximations,
    ).toThrow(UnsupportedRequest);
    expect(
      () =>
        fal.prepare(
          withReferences(picture, [{ path: '/none', size: 80_000_000, contentType: 'image/png', width: 9, height: 9 }]),
        ).approximations,
    ).toThrow(UnsupportedRequest);
    const references = await Promise.all(many);
    expect(() => fal.prepare(withReferences(picture, references)).approximations).toThrow(UnsupportedRequest);
  });
});

describe('a crash among several requests', () => {
  it('with every id known continues, and sends what was not sent yet', async () => {
    const ten = requestFor(picture, { input: { n: 10 } });
    await ground.made(ten);
    const again = ground.freshRun(`${ID(1)},${ID(2)}`, true);
    expect(await ground.made(ten, again)).toHaveLength(10);
    expect(stub.submits).toBe(4);
    expect(again.calls).toEqual([`submitted ${ID(1)},${ID(2)},?`, `submitted ${ID(1)},${ID(2)},${ID(4)}`]);
  });

  it('in the middle of a submit has an unknown outcome, and the known jobs are cancelled', async () => {
    stub.endings.push('never');
    const ten = requestFor(picture, { input: { n: 10 } });
    const first = ground.freshRun();
    const going = failureOf(fal.prepare(ten).generate(first));
    await until(() => stub.submits === 3);
    first.stop('shutdown');
    await going;
    const again = ground.freshRun(`${ID(1)},?`, true);
    expect(await failureOf(fal.prepare(ten).generate(again))).toMatchObject({
      code: 'provider_outcome_unknown',
      billing: 'unknown',
    });
    await until(() => stub.jobs.get(ID(1))?.cancelRequested === true);
    expect(stub.submits).toBe(3);
  });

  it('one that is throttled waits, because the others are paid for', async () => {
    stub.plan(
      SUBMIT,
      { delayMs: 0 },
      { reply: { status: 429, headers: { 'retry-after': '0.1' }, body: { detail: 'slow' } } },
    );
    expect(await ground.made(requestFor(picture, { input: { n: 5 } }))).toHaveLength(5);
    expect(stub.submits).toBe(2);
  });

  it('one that is refused fails the task and cancels the others', async () => {
    stub.endings.push('never');
    stub.plan(
      SUBMIT,
      { delayMs: 0 },
      { reply: { status: 422, body: { detail: [{ type: 'content_policy_violation' }] } } },
    );
    const failure = await failureOf(fal.prepare(requestFor(picture, { input: { n: 5 } })).generate(run));
    expect(failure).toMatchObject({ code: 'content_policy_violation', billing: 'charged' });
    await until(() => stub.jobs.get(ID(1))?.cancelRequested === true);
  });

  it('one that fails fails the task and cancels the others', async () => {
    stub.endings.push('never', { status: 422, type: 'content_policy_violation' });
    const failure = await failureOf(fal.prepare(requestFor(picture, { input: { n: 5 } })).generate(run));
    expect(failure).toMatchObject({ code: 'content_policy_violation', billing: 'charged' });
    await until(() => stub.jobs.get(ID(1))?.cancelRequested === true);
  });
});

describe('videos', () => {
  const FIRST = { first_frame_image_url: 'https://a.example/1.png' };
  const REFERENCE = { reference_image_url: 'https://a.example/2.png' };

  it.each([
    ['sora-2', 'omni', {}, 'text-to-video', 0],
    ['sora-2', 'omni', FIRST, 'reference-to-video', 0],
    ['sora-2', 'first_last', FIRST, 'image-to-video', 1],
    ['sora-2', 'multi_frame', FIRST, 'reference-to-video', 1],
    ['seedance-2', 'omni', FIRST, 'image-to-video', 0],
    ['seedance-2', 'first_frame', FIRST, 'image-to-video', 0],
    ['seedance-2', 'omni', REFERENCE, 'reference-to-video', 0],
    ['seedance-2', 'omni', { ...FIRST, ...REFERENCE }, 'reference-to-video', 1],
  ])('of %s in mode %s with %j use the endpoint %s', async (model, reference_mode, urls, endpoint, approximations) => {
    const image = await inputImage(400, 300);
    const request = requestFor(film, {
      model,
      input: { reference_mode, ...urls },
      images: {
        firstFrame: 'first_frame_image_url' in urls ? image : null,
        references: 'reference_image_url' in urls ? [image] : [],
      },
    });
    expect(fal.prepare(request).approximations).toHaveLength(approximations);
    expect(await ground.made(request)).toEqual([`output 0 of ${ID(1)}`]);
    expect(last()?.endpoint).toBe(`bytedance/seedance-2.0/${endpoint}`);
    if (endpoint === 'reference-to-video') {
      expect(last()?.fields.image_urls).toHaveLength(Object.keys(urls).length);
      expect(last()?.fields.prompt).toMatch(/^a boat\n\n@Image1 is /);
    }
    expect(
      stub.requests.filter(
        ({ method, path }) => method === 'GET' && path.startsWith('/bytedance/seedance-2.0/requests/'),
      ),
    ).not.toEqual([]);
  });

  it('of every ratio, resolution and duration have no approximation', async () => {
    stub.steps = { queued: 0, running: 0 };
    for (const aspect_ratio of ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'])
      for (const resolution of ['720p', '1080p', '720P', '1080P', '4K']) {
        await ground.made(requestFor(film, { input: { aspect_ratio, resolution } }), ground.freshRun());
        expect(last()?.fields).toMatchObject({
          aspect_ratio,
          resolution: resolution.toLowerCase(),
          generate_audio: true,
        });
      }
    for (let duration = 4; duration <= 15; duration++) {
      await ground.made(requestFor(film, { input: { duration } }), ground.freshRun());
      expect(last()?.fields.duration).toBe(String(duration));
    }
    expect(() => fal.prepare(requestFor(film, { input: { duration: 16 } })).approximations).toThrow(UnsupportedRequest);
    const fast = { model: 'bytedance/seedance-2.0/fast' };
    expect(
      () => fal.prepare(requestFor(film, { upstream: fast, input: { resolution: '1080p' } })).approximations,
    ).toThrow(UnsupportedRequest);
  });
});

describe('a submit that is refused', () => {
  const typed = (type: string) => ({ detail: [{ loc: ['body'], msg: 'm', type }] });
  it.each<[number, object, Record<string, string>, string, string]>([
    [422, typed('value_error'), {}, 'provider_rejected', 'none'],
    [422, typed('content_policy_violation'), {}, 'content_policy_violation', 'none'],
    [401, { detail: 'no' }, {}, 'provider_rejected', 'none'],
    [403, { detail: 'no' }, {}, 'provider_rejected', 'none'],
    [403, { detail: 'User is locked. Reason: Exhausted balance.' }, {}, 'provider_quota_exceeded', 'none'],
    [404, { detail: 'no' }, {}, 'provider_rejected', 'none'],
    [429, { detail: 'no' }, { 'retry-after': '3' }, 'provider_unavailable', 'none'],
    [503, { detail: 'no' }, { 'retry-after': '3' }, 'provider_unavailable', 'none'],
    [503, { detail: 'no' }, { 'x-fal-retryable': 'true' }, 'provider_unavailable', 'none'],
    [503, { detail: 'no' }, {}, 'provider_outcome_unknown', 'unknown'],
    [500, { detail: 'no' }, {}, 'provider_outcome_unknown', 'unknown'],
    [200, { status: 'IN_QUEUE' }, {}, 'provider_outcome_unknown', 'unknown'],
  ])('with %d %j %j is %s, billing: %s, and sent once', async (status, body, headers, code, billing) => {
    stub.plan(SUBMIT, { reply: { status, body, headers } });
    const failure = await failureOf(fal.prepare(picture).generate(run));
    expect(failure).toMatchObject({ code, billing, cause: { provider: 'fal', status } });
    expect(failure.retryAfterMs).toBe('retry-after' in headers ? 3000 : undefined);
    expect(stub.count(SUBMIT)).toBe(1);
    expect(run.calls).toEqual(['submitting']);
  });

  it.each<[string, Fault]>([
    ['reset', { cut: 'before' }],
    ['lost', { cut: 'after' }],
    ['half', { cut: 'midway' }],
    ['a page', { reply: { status: 502, body: '<html>' } }],
  ])('with the answer %s has an unknown outcome, and is sent once', async (_what, fault) => {
    stub.plan(SUBMIT, fault);
    expect(await failureOf(fal.prepare(film).generate(run))).toMatchObject({
      code: 'provider_outcome_unknown',
      billing: 'unknown',
    });
    expect(stub.count(SUBMIT)).toBe(1);
  });
});

describe('a request that ends', () => {
  it.each<[FalEnding, string]>([
    [{ status: 422, type: 'content_policy_violation' }, 'content_policy_violation'],
    [{ status: 422, type: 'no_media_generated' }, 'provider_no_result'],
    [{ status: 422, type: 'image_load_error' }, 'provider_rejected'],
    [{ status: 422, type: 'file_too_large' }, 'provider_rejected'],
    [{ status: 422, type: 'unsupported_image_format' }, 'provider_rejected'],
    [{ status: 422, type: 'greater_than' }, 'provider_rejected'],
    [{ status: 422, type: 'brand_new' }, 'provider_rejected'],
    [{ status: 504, type: 'generation_timeout' }, 'provider_timeout'],
    [{ status: 504, type: 'request_timeout', platform: true }, 'provider_timeout'],
    [{ status: 500, type: 'downstream_service_error' }, 'provider_unavailable'],
    [{ status: 500, type: 'internal_server_error', retryable: true }, 'provider_unavailable'],
    [{ status: 500, type: 'internal_server_error', retryable: false }, 'internal_error'],
    [{ status: 503, type: 'runner_connection_refused', platform: true }, 'provider_unavailable'],
    [{ status: 500, type: 'brand_new', retryable: true }, 'provider_unavailable'],
    [{ status: 500, type: 'brand_new' }, 'internal_error'],
    [{ onStatus: 'runner_disconnected' }, 'provider_unavailable'],
    [{ onStatus: 'client_cancelled' }, 'internal_error'],
    ['nothing', 'provider_no_result'],
  ])('with %j is %s, charged', async (ending, code) => {
    stub.endings.push(ending);
    const failure = await failureOf(fal.prepare(requestFor(picture, { input: { n: 2 } })).generate(run));
    expect(failure).toMatchObject({ code, billing: 'charged' });
    expect(JSON.stringify(failure.cause)).not.toContain('a prompt');
  });

  it('with fewer pictures keeps those that are there', async () => {
    stub.endings.push('fewer');
    expect(await ground.made(requestFor(picture, { input: { n: 2 } }))).toHaveLength(1);
    expect(run.calls.at(-1)).toBe('fewer: 1, 0 unknown');
  });

  it('may have its picture in the answer, also one of 9 MB', async () => {
    const bytes = 'x'.repeat(9_000_000);
    const url = `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`;
    stub.plan(RESULT, { reply: { status: 200, body: { images: [{ url }] } } });
    const [made] = await ground.made(picture);
    expect(made === bytes).toBe(true); // not compared by Jest, which would print them
  });

  it('is read again after temporary failures', async () => {
    const pass = [404, 404, 500, 429, 408].map((status) => ({ reply: { status, body: '<x>' } }));
    stub.plan(RESULT, ...pass, { cut: 'before' });
    expect(await ground.made(picture)).toEqual([`output 0 of ${ID(1)}`]);
    expect(stub.submits).toBe(1);
  });

  it('counts as lost when the result is 404 three times in a row', async () => {
    const gone: Fault = { reply: { status: 404, body: { detail: 'no' } } };
    stub.plan(RESULT, gone, gone, gone);
    expect(await failureOf(fal.prepare(picture).generate(run))).toMatchObject({
      code: 'internal_error',
      billing: 'charged',
    });
  });

  it('increases the progress while it runs', async () => {
    stub.steps = { queued: 2, running: 30 };
    await ground.made(picture);
    expect(run.percents.length).toBeGreaterThan(10);
    expect(run.percents.every((percent) => percent >= 0 && percent <= 95)).toBe(true);
  });
});

describe('stopping', () => {
  it('settles while the result is read, with the reason', async () => {
    stub.plan(RESULT, 'hang');
    const going = failureOf(fal.prepare(picture).generate(run));
    await until(() => stub.count(RESULT) === 1);
    run.stop('deadline');
    expect(await going).toBe('deadline');
  });

  it('cancels every request of a task', async () => {
    stub.endings.push('never', 'never', 'never');
    const going = failureOf(fal.prepare(requestFor(picture, { input: { n: 10 } })).generate(run));
    await until(() => stub.submits === 3 && run.calls.length === 6);
    run.stop('ended');
    await going;
    await fal.cancel(picture, `${ID(1)},${ID(2)},${ID(3)}`, new AbortController().signal);
    expect(jobs().map(({ cancelRequested }) => cancelRequested)).toEqual([true, true, true]);
  });
});
