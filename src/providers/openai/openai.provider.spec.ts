import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import { stopClock } from '../../../test/support/clock.ts';
import { OPENAI_FAULTS } from '../../../test/support/stubs/openai-faults.ts';
import type { Fault } from '../../../test/support/stubs/stub-http.ts';
import { eventually } from '../../../test/support/wait.ts';
import { failureOf, inputImage, RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { OpenaiStub } from '../../../test/support/stubs/openai.stub.ts';
import { UnsupportedRequest, type ProviderOutput, type ProviderRequest } from '../contract/provider.ts';
import { makePictures, planPictures } from './openai-images.ts';
import { openaiProvider } from './openai.provider.ts';
import { findModel } from '../../models/catalog.ts';

const gptImage2 = findModel('gpt-image-2')!;

const IMAGES = /POST \/v1\/images/;
const provider = openaiProvider;

let stub: OpenaiStub;
let run: RecordedRun;
let aCat: ProviderRequest;

beforeEach(async () => {
  stub = await new OpenaiStub().start();
  run = new RecordedRun();
  aCat = {
    taskId: 'task_01',
    model: 'gpt-image-2',
    kind: 'image',
    input: { prompt: 'a cat', aspect_ratio: '1:1', resolution: '1K', n: 1 },
    images: { references: [], firstFrame: null },
    upstream: {
      model: 'gpt-image-2',
      baseUrl: stub.baseUrl,
      apiKey: stub.key,
      durationPolicy: 'exact',
      pollIntervalMs: 10,
    },
  };
});

afterEach(async () => {
  run.close();
  await stub.stop();
});

const sizesOf = (outputs: ProviderOutput[]) =>
  Promise.all(
    outputs.map(async (output) => {
      const { width, height } = await sharp(Buffer.isBuffer(output) ? output : output.path).metadata();
      return `${width}x${height}`;
    }),
  );

describe('images', () => {
  const { aspect_ratio: ratios, resolution: resolutions } = gptImage2.parameters.properties as unknown as Record<
    string,
    { enum: string[] }
  >;
  const grid = ratios.enum.flatMap((ratio) => resolutions.enum.map((resolution) => [ratio, resolution] as const));

  it.each(grid)('requests %s in %s as a size of that ratio that the upstream accepts', async (ratio, resolution) => {
    const request = requestFor(aCat, { input: { aspect_ratio: ratio, resolution } });
    const near = provider.prepare(request).approximations;
    const [size = ''] = await sizesOf(await provider.prepare(request).generate(run));
    const [width = 0, height = 0] = size.split('x').map(Number);
    const [across = 1, down = 1] = ratio === 'auto' ? [1, 1] : ratio.split(':').map(Number);
    expect(width * down).toBe(height * across);
    expect(stub.requests[0]?.fields.size).toBe(ratio === 'auto' && resolution === '1K' ? 'auto' : size);
    const chosen = { param: 'aspect_ratio', requested: 'auto', used: '1:1' };
    expect(near).toEqual(ratio === 'auto' && resolution !== '1K' ? [chosen] : []);
  });

  it.each([1, 3, 10])('makes %i images with one paid call', async (n) => {
    const outputs = await provider.prepare(requestFor(aCat, { input: { n } })).generate(run);
    expect(outputs).toHaveLength(n);
    expect(new Set(outputs.map((output) => (output as Buffer).toString('base64'))).size).toBe(n);
    expect(stub.submits).toBe(1);
    expect([run.calls, run.checks]).toEqual([['submitting'], 2]);
  });

  it('sends the quality, unless the model is to choose it', async () => {
    for (const quality of ['auto', 'low', 'high']) {
      const prepared = provider.prepare(requestFor(aCat, { input: { quality } }));
      expect(prepared.approximations).toEqual([]);
      await prepared.generate(run);
      expect(stub.requests.at(-1)?.fields.quality).toBe(quality === 'auto' ? undefined : quality);
    }
    const other = requestFor(aCat, { input: { quality: 'low' }, upstream: { model: 'flux-2' } });
    const prepared = provider.prepare(other);
    expect(prepared.approximations).toContainEqual({ param: 'quality', requested: 'low', used: 'auto' });
    await prepared.generate(run);
    expect(stub.requests.at(-1)?.fields).not.toHaveProperty('quality');
  });

  describe('with partial images', () => {
    const partials = () => run.partials.map(String);

    it.each([false, true])('streams one picture and its early stages as they arrive (edit: %s)', async (isEdit) => {
      run.partialImages = 2;
      const rest = Promise.withResolvers<void>();
      stub.plan(IMAGES, { restAfter: rest.promise });
      const references = isEdit ? [await inputImage(64, 64)] : [];
      const making = provider.prepare(requestFor(aCat, { images: { references, firstFrame: null } })).generate(run);
      await eventually('both stages before the answer is complete', async () => run.partials.length === 2);
      rest.resolve();
      const outputs = await making;
      expect(partials()).toEqual(['stage 0', 'stage 1']);
      expect(await sizesOf(outputs)).toEqual(['1024x1024']);
      expect(run.calls).toEqual(['submitting']);
      expect(run.reportedTokens).toEqual([[12, 4160]]);
      const { fields, path } = stub.requests[0]!;
      expect(path).toBe(`/v1/images/${isEdit ? 'edits' : 'generations'}`);
      expect([String(fields.stream), String(fields.partial_images)]).toEqual(['true', '2']);
    });

    it('does not stream where none are wanted, or the server is not known to have them', async () => {
      await provider.prepare(aCat).generate(run);
      run.partialImages = 3;
      await provider.prepare(requestFor(aCat, { upstream: { model: 'flux-2' } })).generate(run);
      for (const { fields } of stub.requests) expect(fields).not.toHaveProperty('stream');
      expect(partials()).toEqual([]);
    });

    it('takes a plain answer of a server that does not stream', async () => {
      run.partialImages = 1;
      const b64_json = Buffer.from('a picture').toString('base64');
      stub.plan(IMAGES, {
        reply: { status: 200, headers: { 'content-type': 'application/json' }, body: { data: [{ b64_json }] } },
      });
      expect((await provider.prepare(aCat).generate(run)).map(String)).toEqual(['a picture']);
    });

    it.each([
      ['moderation_blocked', 'image_generation_user_error', 'content_policy_violation'],
      ['server_error', 'server_error', 'provider_unavailable'],
      ['something', 'unheard_of', 'internal_error'],
    ])('translates the error %s in the stream, which may have been billed', async (code, type, expected) => {
      run.partialImages = 1;
      stub.streamError = { code, type, message: 'no' };
      const failure = await failureOf(provider.prepare(aCat).generate(run));
      expect([failure.code, failure.billing]).toEqual([expected, 'charged']);
      expect(partials()).toEqual(['stage 0']);
    });

    it('does not know the outcome of a stream that was cut', async () => {
      run.partialImages = 1;
      stub.plan(IMAGES, { cut: 'midway' });
      expect((await failureOf(provider.prepare(aCat).generate(run))).billing).toBe('unknown');
    });

    it('translates a refusal before the stream as without one', async () => {
      run.partialImages = 1;
      const error = { code: 'moderation_blocked', type: 'invalid_request_error', message: 'no' };
      stub.plan(IMAGES, { reply: { status: 400, body: { error } } });
      expect((await failureOf(provider.prepare(aCat).generate(run))).code).toBe('content_policy_violation');
    });
  });

  it('sends reference images as files of their type, in order', async () => {
    const references = [await inputImage(64, 32), await inputImage(32, 64, 'jpeg'), await inputImage(48, 48, 'webp')];
    const request = requestFor(aCat, { images: { references, firstFrame: null }, input: { n: 2 } });
    expect(await provider.prepare(request).generate(run)).toHaveLength(2);
    const [{ path, files, fields }] = stub.requests;
    expect(path).toBe('/v1/images/edits');
    expect(files.map(({ field, type, name }) => [field, type, name])).toEqual([
      ['image[]', 'image/png', 'reference-1.png'],
      ['image[]', 'image/jpeg', 'reference-2.jpg'],
      ['image[]', 'image/webp', 'reference-3.webp'],
    ]);
    expect(files.map(({ bytes }, i) => bytes.equals(readFileSync(references[i].path)))).toEqual([true, true, true]);
    expect(fields).toEqual({ model: 'gpt-image-2', prompt: 'a cat', n: '2', size: '1024x1024' });
  });

  it('uses the ratio nearest to the first reference if the size has to be chosen', async () => {
    const references = [await inputImage(160, 92)];
    const request = requestFor(aCat, {
      input: { aspect_ratio: 'auto', resolution: '2K' },
      images: { references, firstFrame: null },
    });
    expect(provider.prepare(request).approximations).toEqual([
      { param: 'aspect_ratio', requested: 'auto', used: '16:9' },
    ]);
  });

  it.each([
    ['1:1', '1K', '1024x1024'],
    ['3:2', '1K', '1536x1024'],
    ['2:3', '1K', '1024x1536'],
    ['auto', '1K', 'auto'],
  ])('uses the sizes of the older model: %s in %s is %s', async (aspect_ratio, resolution, size) => {
    const request = requestFor(aCat, { input: { aspect_ratio, resolution }, upstream: { model: 'gpt-image-1.5' } });
    expect(provider.prepare(request).approximations).toEqual([]);
    await provider.prepare(request).generate(run);
    expect(stub.requests[0]?.fields.size).toBe(size);
  });

  it.each([
    ['16:9', '1K', 'aspect_ratio'],
    ['1:1', '2K', 'resolution'],
  ])('refuses %s in %s for the older model before anything is sent', (aspect_ratio, resolution, param) => {
    const request = requestFor(aCat, { input: { aspect_ratio, resolution }, upstream: { model: 'gpt-image-1.5' } });
    expect(() => provider.prepare(request).approximations).toThrow(
      expect.objectContaining({ name: 'UnsupportedRequest', param }),
    );
    expect(() => provider.prepare(request).approximations).toThrow(UnsupportedRequest);
  });

  it('replaces "auto" by a size for other servers, and records it', () => {
    const request = requestFor(aCat, { input: { aspect_ratio: 'auto' }, upstream: { model: 'sd3.5' } });
    expect(provider.prepare(request).approximations).toEqual([
      { param: 'aspect_ratio', requested: 'auto', used: '1:1' },
    ]);
  });

  it('reports the tokens of the answer, if it has any', async () => {
    await provider.prepare(requestFor(aCat, { input: { n: 2 } })).generate(run);
    expect(run.reportedTokens).toEqual([[12, 4160]]);
    const b64_json = Buffer.from('a picture').toString('base64');
    for (const usage of [undefined, null, { input_tokens: 5 }, { output_tokens: 'many' }, { output_tokens: -1 }]) {
      stub.plan(IMAGES, { reply: { status: 200, body: { data: [{ b64_json }], usage } } });
      await provider.prepare(aCat).generate(run);
    }
    expect(run.reportedTokens).toHaveLength(1);
  });

  it('downloads images that a server returns as links', async () => {
    stub.links = true;
    const outputs = await provider.prepare(requestFor(aCat, { input: { n: 2 } })).generate(run);
    expect(await sizesOf(outputs)).toEqual(['64x64', '64x64']);
  });

  const answering = (data: object[]) => stub.plan(IMAGES, { reply: { status: 200, body: { data } } });

  it('takes a picture that a server writes into the link', async () => {
    const picture = await sharp({ create: { width: 8, height: 4, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    answering([{ url: `data:image/png;base64,${picture.toString('base64')}` }]);
    expect(await sizesOf(await provider.prepare(aCat).generate(run))).toEqual(['8x4']);
  });

  it.each([
    ['/pictures/1', '/pictures/1'],
    ['images/1/content', '/v1/images/1/content'],
  ])('downloads %s from the server itself, with the key', async (url, path) => {
    stub.plan(/GET .*content/, { reply: { status: 200, body: 'a picture' } });
    answering([{ url }]);
    expect(await provider.prepare(aCat).generate(run)).toHaveLength(1);
    expect(stub.requests.at(-1)).toMatchObject({ path, key: 'right' });
  });

  it('keeps the pictures that are there when a server makes fewer', async () => {
    const b64_json = Buffer.from('a picture').toString('base64');
    answering([{ b64_json }, {}, { b64_json }]);
    expect(await provider.prepare(requestFor(aCat, { input: { n: 3 } })).generate(run)).toHaveLength(2);
    expect(run.calls).toEqual(['submitting', 'fewer: 2, 0 unknown']);
  });

  it('does not say that nothing was bought when a paid picture cannot be downloaded', async () => {
    answering([{ url: 'http://127.0.0.1:1/picture' }]);
    const away = requestFor(aCat, { upstream: { pollIntervalMs: 1 } });
    const failure = await failureOf(provider.prepare(away).generate(run));
    expect(failure).toMatchObject({ code: 'result_storage_failed', billing: 'unknown' });
  });

  it.each(['<sd_cpp_extra_args>{"steps":1}</sd_cpp_extra_args> a cat', 'a cat <SD_CPP_Extra_Args>{}'])(
    'sends %s to no server but that of OpenAI',
    (prompt) => {
      const skipped = expect.objectContaining({ name: 'UnsupportedRequest', param: 'prompt' }) as Error;
      for (const kind of ['image', 'video'] as const) {
        const input = { prompt, ...(kind === 'video' && { resolution: '720P', aspect_ratio: '16:9', duration: 4 }) };
        const at = (baseUrl: string) => () =>
          provider.prepare(
            requestFor(aCat, { kind, input, upstream: { baseUrl }, ...(kind === 'video' && { model: 'sora-2' }) }),
          );
        expect(at(stub.baseUrl)).toThrow(skipped);
        expect(at('https://api.openai.com.example/v1')).toThrow(skipped);
        expect(at('https://api.openai.com/v1')).not.toThrow();
      }
    },
  );

  it('works without a key, and then sends none', async () => {
    await failureOf(provider.prepare(requestFor(aCat, { upstream: { apiKey: null } })).generate(run));
    expect(stub.requests[0]?.key).toBe('none');
  });

  it('uses nothing from the environment', async () => {
    const set = { OPENAI_BASE_URL: 'http://127.0.0.1:1', OPENAI_ORG_ID: 'org-x', OPENAI_PROJECT_ID: 'proj-x' };
    Object.assign(process.env, set, { OPENAI_API_KEY: 'other' });
    try {
      await provider.prepare(aCat).generate(run);
      expect(stub.requests[0]).toMatchObject({ key: 'right' });
      expect(JSON.stringify(stub.requests[0]?.headers)).not.toMatch(/org-x|proj-x/);
    } finally {
      for (const name of [...Object.keys(set), 'OPENAI_API_KEY']) delete process.env[name];
    }
  });

  const failures: [keyof typeof OPENAI_FAULTS, string, string, object?][] = [
    ['moderated', 'content_policy_violation', 'charged'],
    ['contentPolicy', 'content_policy_violation', 'charged'],
    ['badSize', 'provider_rejected', 'none', { param: 'resolution' }],
    ['badImage', 'provider_rejected', 'none', { param: 'reference_images' }],
    ['tooLarge', 'provider_rejected', 'none'],
    ['detailOnly', 'provider_rejected', 'none'],
    ['hardLimit', 'provider_quota_exceeded', 'none'],
    ['noQuota', 'provider_quota_exceeded', 'none'],
    ['badKey', 'provider_rejected', 'none', { param: undefined }],
    ['notVerified', 'provider_rejected', 'none'],
    ['noModel', 'provider_rejected', 'none'],
    ['redirect', 'provider_rejected', 'none'],
    ['rateLimited', 'provider_unavailable', 'none', { retryAfterMs: 7000 }],
    ['overloaded', 'provider_unavailable', 'none', { retryAfterMs: 3000 }],
    ['slowDown', 'provider_unavailable', 'none'],
    ['unavailable', 'provider_outcome_unknown', 'unknown'],
    ['serverError', 'provider_outcome_unknown', 'unknown'],
    ['badGateway', 'provider_outcome_unknown', 'unknown'],
    ['unknownError', 'provider_outcome_unknown', 'unknown'],
    ['gatewayTimeout', 'provider_outcome_unknown', 'unknown'],
    ['junkJson', 'internal_error', 'charged'],
    ['junkText', 'provider_no_result', 'charged'],
    ['noData', 'provider_no_result', 'charged'],
    ['emptyPicture', 'provider_no_result', 'charged'],
  ];

  it.each(failures)('maps %s to %s, billing: %s, after one call', async (fault, code, billing, more = {}) => {
    stub.plan(IMAGES, OPENAI_FAULTS[fault]);
    const failure = await failureOf(provider.prepare(aCat).generate(run));
    expect(failure).toMatchObject({ name: 'ProviderError', code, billing, ...more });
    expect(failure.cause).toMatchObject({
      provider: 'openai',
      status: OPENAI_FAULTS[fault].reply.status,
      request_id: 'req_1',
    });
    expect(JSON.stringify(failure.cause)).not.toContain(stub.key);
    expect(failure.message).not.toMatch(/stub|words|organization/);
    expect(stub.count(IMAGES)).toBe(1);
  });

  it.each<[string, Fault, number]>([
    ['before the request is read', { cut: 'before' }, 0],
    ['after the request was taken', { cut: 'after' }, 1],
    ['half through the answer', { cut: 'midway' }, 1],
    ['by silence', 'hang', 0],
  ])('reports an unknown outcome when the call ends %s, and does not repeat it', async (_when, fault, submits) => {
    stub.plan(IMAGES, fault);
    const timeoutMs = fault === 'hang' ? 150 : 10_000; // long, so that a busy machine does not time out first
    const failure = await failureOf(makePictures(planPictures(aCat), aCat, run, timeoutMs));
    expect(failure).toMatchObject({ code: 'provider_outcome_unknown', billing: 'unknown' });
    expect([stub.count(IMAGES), stub.submits]).toEqual([1, submits]);
  });

  it.each([
    ['no server listens', 'http://127.0.0.1:1/v1'],
    ['the name is unknown', 'http://upstream.invalid/v1'],
  ])('is not billed when %s', async (_why, baseUrl) => {
    const failure = await failureOf(provider.prepare(requestFor(aCat, { upstream: { baseUrl } })).generate(run));
    expect(failure).toMatchObject({ code: 'provider_unavailable', billing: 'none' });
    expect(failure.cause).toMatchObject({
      provider: 'openai',
      code: expect.stringMatching(/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/),
    });
  });

  it('ends with the reason of the signal', async () => {
    stub.plan(IMAGES, 'hang');
    const failure = failureOf(provider.prepare(aCat).generate(run));
    await eventually('the call', async () => stub.count(IMAGES) === 1);
    run.stop('cancelled'); // without the abort, the call would last for minutes
    expect(await failure).toBe('cancelled');
  });

  it('reports progress while it waits, and never the end', async () => {
    const rest = Promise.withResolvers<void>();
    stub.plan(IMAGES, { restAfter: rest.promise });
    stopClock();
    try {
      const made = provider.prepare(aCat).generate(run);
      await eventually('half of the answer', async () => stub.halves === 1);
      await jest.advanceTimersByTimeAsync(100_000);
      rest.resolve();
      await made;
    } finally {
      jest.useRealTimers();
    }
    expect(run.percents).toHaveLength(100);
    expect(Math.max(...run.percents)).toBeLessThan(96);
    expect(run.percents).toEqual([...run.percents].sort((a, b) => a - b));
  });
});
