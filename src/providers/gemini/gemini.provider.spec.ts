import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import sharp from 'sharp';
import { blockedBy, finishedBy, GEMINI_FAULTS, GeminiStub } from '../../../test/support/stubs/gemini.stub.ts';
import { costOf } from '../../../test/support/cost-of.ts';
import type { Fault } from '../../../test/support/stubs/stub-http.ts';
import { failureOf, imageFile, inputImage, RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { skipPauses } from '../../../test/support/clock.ts';
import { eventually } from '../../../test/support/wait.ts';
import type { Model } from '../../models/definition/model.ts';
import { boundBufferGarbage } from '../../platform/run/buffer-garbage.ts';
import type { InputImage, ProviderOutput, ProviderRequest } from '../contract/provider.ts';
import { GeminiProvider } from './gemini.provider.ts';
import { requestedSize } from '../contract/prepare-request.ts';
import { findModel } from '../../models/catalog.ts';

const gptImage2 = findModel('gpt-image-2')!;
const nanoBanana2 = findModel('nano-banana-2')!;
const nanoBananaPro = findModel('nano-banana-pro')!;

const CALL = /POST .*:generateContent$/;
const provider = new GeminiProvider();

let stub: GeminiStub;
let run: RecordedRun;
let aCat: ProviderRequest;

beforeEach(async () => {
  stub = await new GeminiStub().start();
  run = new RecordedRun();
  aCat = {
    taskId: 'task_01',
    model: 'nano-banana-2',
    kind: 'image',
    input: { prompt: 'a cat', aspect_ratio: '1:1', resolution: '1K', n: 1 },
    images: { references: [], firstFrame: null },
    upstream: {
      model: 'gemini-nano-banana-2.1',
      baseUrl: stub.baseUrl,
      apiKey: stub.key,
      durationPolicy: 'exact',
      pollIntervalMs: null,
    },
  };
});

afterEach(async () => {
  run.close();
  await stub.stop();
});

const sizeOf = async (output: ProviderOutput) => {
  const { width, height } = await sharp(output as Buffer).metadata();
  return { width, height };
};

const allowed = ({ id, parameters }: Model) => {
  const { aspect_ratio, resolution } = parameters.properties as unknown as Record<string, { enum: string[] }>;
  return aspect_ratio.enum.flatMap((ratio) => resolution.enum.map((size) => [id, ratio, size] as const));
};

it.each([...allowed(nanoBanana2), ...allowed(nanoBananaPro)])('makes %s %s in %s', async (model, ratio, resolution) => {
  const request = requestFor(aCat, { model, input: { aspect_ratio: ratio, resolution } });
  expect(provider.prepare(request).approximations).toEqual([]);
  const [picture] = await provider.prepare(request).generate(run);
  expect(await sizeOf(picture)).toEqual(requestedSize(request).size);
  const [{ path, fields, key }] = stub.requests;
  expect([path, key]).toEqual(['/v1/models/gemini-nano-banana-2.1:generateContent', 'right']);
  expect(fields).toEqual({
    store: false,
    contents: [{ role: 'user', parts: [{ text: 'a cat' }] }],
    generationConfig: {
      responseModalities: ['IMAGE'],
      imageConfig: { ...(ratio === 'auto' ? {} : { aspectRatio: ratio }), imageSize: resolution },
    },
  });
});

it('could serve gpt-image-2 with every value', () => {
  for (const [, aspect_ratio, resolution] of allowed(gptImage2)) {
    expect(
      provider.prepare(requestFor(aCat, { model: 'gpt-image-2', input: { aspect_ratio, resolution } })).approximations,
    ).toEqual([]);
  }
});

it('refuses what it cannot express before it sends anything', async () => {
  const tooMany = Array<InputImage>(15).fill(await inputImage(8, 8));
  const unfit = (changes: Parameters<typeof requestFor>[1], param: string) =>
    expect(() => provider.prepare(requestFor(aCat, changes)).approximations).toThrow(
      expect.objectContaining({ name: 'UnsupportedRequest', param }),
    );
  unfit({ input: { aspect_ratio: '9:21' } }, 'aspect_ratio');
  unfit({ input: { resolution: '720p' } }, 'resolution');
  unfit({ images: { references: tooMany, firstFrame: null } }, 'reference_images');
  unfit({ kind: 'video' }, 'model');
  const large: InputImage = { path: '/none', size: 20_000_000, contentType: 'image/png', width: 9, height: 9 };
  unfit({ images: { references: Array.from({ length: 14 }, () => large), firstFrame: null } }, 'reference_images');
});

it('sends reference images as inline data, in order', async () => {
  const references = [await inputImage(64, 32), await inputImage(32, 64, 'jpeg')];
  await provider.prepare(requestFor(aCat, { images: { references, firstFrame: null } })).generate(run);
  const [{ fields }] = stub.requests;
  const { contents } = fields as { contents: { parts: object[] }[] };
  expect(contents[0]?.parts.slice(1)).toEqual(
    references.map(({ path, contentType }) => ({
      inlineData: { mimeType: contentType, data: readFileSync(path, 'base64') },
    })),
  );
});

it('sends the largest request four times in little memory, without blocking the event loop', async () => {
  const half = imageFile(randomBytes(7_300_000), { contentType: 'image/png', width: 9, height: 9 });
  const picture = (await sharp({ create: { width: 8, height: 8, channels: 3, background: '#000' } }).png().toBuffer()).toString('base64'); // prettier-ignore
  const received: number[] = [];
  const server = createServer(async (message, response) => {
    let bytes = 0;
    for await (const chunk of message) bytes += (chunk as Buffer).length;
    received.push(bytes);
    const parts = [{ inlineData: { mimeType: 'image/png', data: picture } }];
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ candidates: [{ content: { parts } }] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request = requestFor(aCat, {
    input: { n: 4 },
    images: { references: [half, half], firstFrame: null },
    upstream: { baseUrl },
  });
  await provider.prepare(requestFor(aCat, { upstream: { baseUrl } })).generate(new RecordedRun()); // loads the code

  boundBufferGarbage(); // as every process of the service does
  // The code blocks in each of three runs; the garbage collector of Jest's large heap blocks in some of them only.
  const runs: Awaited<ReturnType<typeof costOf>>[] = [];
  for (let index = 0; index < 3; index += 1) {
    const run = await costOf(async () => {
      expect(await provider.prepare(request).generate(new RecordedRun())).toHaveLength(4);
    });
    runs.push(run);
  }
  server.close();
  expect(received.slice(1)).toEqual(Array(12).fill(received[1]));
  expect(received[1]).toBeGreaterThan(19_400_000);
  expect(Math.min(...runs.map(({ longestMs }) => longestMs))).toBeLessThan(100);
  expect(runs[0]?.bytes).toBeLessThan(100 * 2 ** 20);
});

it('returns the picture and not the draft among the thoughts', async () => {
  const [plain] = await provider.prepare(aCat).generate(run);
  stub.drafts = true;
  stub.submits = 0;
  const [picture] = await provider.prepare(aCat).generate(new RecordedRun());
  expect((picture as Buffer).equals(plain as Buffer)).toBe(true);
});

it('reads an answer of more than 20 MB', async () => {
  const [width, height] = [3000, 2500];
  const raw = { width, height, channels: 3 } as const;
  const noise = await sharp(randomBytes(width * height * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer();
  expect(noise.length).toBeGreaterThan(16 * 2 ** 20);
  const parts = [{ inlineData: { mimeType: 'image/png', data: noise.toString('base64') } }];
  stub.plan(CALL, { reply: { status: 200, body: { candidates: [{ content: { parts }, finishReason: 'STOP' }] } } });
  const [output] = await provider.prepare(aCat).generate(run);
  expect((output as Buffer).equals(noise)).toBe(true);
});

it('sends nothing without a key', async () => {
  const failure = await failureOf(provider.prepare(requestFor(aCat, { upstream: { apiKey: null } })).generate(run));
  expect(failure).toMatchObject({ code: 'provider_rejected', billing: 'none' });
  expect([stub.requests, run.calls]).toEqual([[], []]);
});

it('ignores the environment variables of the SDK', async () => {
  const set = {
    GOOGLE_GENAI_USE_VERTEXAI: 'true',
    GOOGLE_API_KEY: 'other',
    GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1',
    GOOGLE_GENAI_API_VERSION: 'v9',
  };
  Object.assign(process.env, set);
  try {
    expect(await provider.prepare(aCat).generate(run)).toHaveLength(1);
    expect(stub.requests[0]).toMatchObject({ key: 'right', path: expect.stringMatching(/^\/v1\//) });
  } finally {
    for (const name of Object.keys(set)) delete process.env[name];
  }
});

describe('refusals', () => {
  const POLICY = ['SAFETY', 'IMAGE_SAFETY', 'PROHIBITED_CONTENT', 'IMAGE_PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'RECITATION', 'IMAGE_RECITATION']; // prettier-ignore
  it.each(POLICY)('a picture withheld for %s is content_policy_violation, and is not retried', async (reason) => {
    stub.plan(CALL, finishedBy(reason));
    const failure = await failureOf(provider.prepare(aCat).generate(run));
    expect(failure).toMatchObject({ code: 'content_policy_violation', cause: { provider: 'gemini', code: reason } });
    expect(stub.count(CALL)).toBe(1);
  });

  const BLOCKS = ['SAFETY', 'OTHER', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'IMAGE_SAFETY', 'MODEL_ARMOR', 'JAILBREAK'];
  it.each(BLOCKS)('a prompt blocked for %s is content_policy_violation', async (reason) => {
    stub.plan(CALL, blockedBy(reason));
    const failure = await failureOf(provider.prepare(aCat).generate(run));
    expect(failure).toMatchObject({ code: 'content_policy_violation', cause: { code: reason } });
  });

  it('an unsupported language is an error of the prompt', async () => {
    stub.plan(CALL, finishedBy('LANGUAGE'));
    const failure = await failureOf(provider.prepare(aCat).generate(run));
    expect(failure).toMatchObject({ code: 'provider_rejected', param: 'prompt' });
  });

  const NO_PICTURE = ['NO_IMAGE', 'IMAGE_OTHER', 'OTHER', 'MALFORMED_RESPONSE', 'MAX_TOKENS', 'CONTINUATION', 'STOP'];
  it.each(NO_PICTURE)('no picture for %s is called for once more, then provider_no_result', async (reason) => {
    stub.plan(CALL, finishedBy(reason));
    expect(await provider.prepare(aCat).generate(run)).toHaveLength(1);
    expect(run.calls).toEqual(['submitting', 'calling again']);
    stub.plan(CALL, finishedBy(reason), finishedBy(reason));
    const failure = await failureOf(provider.prepare(aCat).generate(run));
    expect(failure).toMatchObject({ code: 'provider_no_result', billing: 'charged', cause: { code: reason } });
    expect(stub.count(CALL)).toBe(4);
  });

  it.each([
    ['no candidate', GEMINI_FAULTS.empty, 'provider_no_result'],
    ['a busy model', GEMINI_FAULTS.overloaded, 'provider_no_result'],
    ['a broken connection', { cut: 'after' } as const, 'provider_outcome_unknown'],
  ])('a model without a picture and then %s was billed', async (_then, fault, code) => {
    stub.plan(CALL, finishedBy('NO_IMAGE'), fault);
    const failure = await failureOf(provider.prepare(aCat).generate(run));
    expect(failure.code).toBe(code);
    expect(failure.billing).not.toBe('none');
    expect(stub.count(CALL)).toBe(2);
  });
});

describe('failures', () => {
  it.each<[keyof typeof GEMINI_FAULTS, string, string, object?]>([
    ['badInput', 'provider_rejected', 'none'],
    ['badKey', 'provider_rejected', 'none'],
    ['noBilling', 'provider_quota_exceeded', 'none'],
    ['wrongRegion', 'provider_rejected', 'none'],
    ['denied', 'provider_rejected', 'none'],
    ['noModel', 'provider_rejected', 'none'],
    ['perMinute', 'provider_unavailable', 'none', { retryAfterMs: 1170 }],
    ['perDay', 'provider_quota_exceeded', 'none'],
    ['wrapped', 'provider_quota_exceeded', 'none'],
    ['overloadedHint', 'provider_unavailable', 'none', { retryAfterMs: 2000 }],
    ['overloaded', 'provider_unavailable', 'none'],
    ['internal', 'provider_unavailable', 'none'],
    ['html', 'provider_outcome_unknown', 'unknown'],
    ['deadline', 'provider_outcome_unknown', 'unknown'],
    ['junk', 'internal_error', 'charged'],
  ])('%s is %s, billing: %s, after one call', async (fault, code, billing, more = {}) => {
    stub.plan(CALL, GEMINI_FAULTS[fault]);
    const failure = await failureOf(provider.prepare(aCat).generate(run));
    expect(failure).toMatchObject({ name: 'ProviderError', code, billing, ...more });
    const { status } = GEMINI_FAULTS[fault].reply;
    expect(failure.cause).toMatchObject({ provider: 'gemini', status, request_id: 'req_1' });
    expect(JSON.stringify(failure.cause)).not.toContain(stub.key);
    expect(stub.count(CALL)).toBe(1);
  });

  it.each<[string, Fault, { callTimeoutMs?: number }]>([
    ['before the request is read', { cut: 'before' }, {}],
    ['after the request was taken', { cut: 'after' }, {}],
    ['half through the answer', { cut: 'midway' }, {}],
    ['by silence', 'hang', { callTimeoutMs: 2_000 }], // long enough for the request to arrive on a busy machine
  ])('a call that ends %s may have been billed, and is not retried', async (_when, fault, options) => {
    stub.plan(CALL, fault);
    const failure = await failureOf(new GeminiProvider(options).prepare(aCat).generate(run));
    expect(failure).toMatchObject({ code: 'provider_outcome_unknown', billing: 'unknown' });
    expect(stub.count(CALL)).toBe(1);
  });

  it('a call without a connection was not billed', async () => {
    const request = requestFor(aCat, { upstream: { baseUrl: 'http://127.0.0.1:1' } });
    const failure = await failureOf(provider.prepare(request).generate(run));
    expect(failure).toMatchObject({ code: 'provider_unavailable', billing: 'none' });
  });

  it('ends by an abort, with the reason of the signal', async () => {
    stub.plan(CALL, 'hang', 'hang', 'hang');
    const failure = failureOf(provider.prepare(requestFor(aCat, { input: { n: 3 } })).generate(run));
    await eventually('the calls', async () => stub.count(CALL) === 3);
    run.stop('cancelled'); // without the abort, each call would last for 300 s
    expect(await failure).toBe('cancelled');
  });
});

describe('whether Google may keep requests', () => {
  const stores = () => stub.requests.map(({ fields }) => fields.store);
  const unknownField = {
    reply: {
      status: 400,
      body: {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: 'Invalid JSON payload received. Unknown name "store": Cannot find field.',
        },
      },
    },
  };

  it('is denied unless the operator allows it', async () => {
    await provider.prepare(aCat).generate(run);
    await new GeminiProvider({ store: true }).prepare(aCat).generate(run);
    expect(stores()).toEqual([false, undefined]);
  });

  it('is left out for an address that does not know the field, with one warning', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    try {
      const fresh = new GeminiProvider();
      stub.plan(CALL, unknownField);
      expect(await fresh.prepare(aCat).generate(run)).toHaveLength(1);
      expect(await fresh.prepare(aCat).generate(run)).toHaveLength(1);
      expect(stores()).toEqual([false, undefined, undefined]);
      expect(warn.mock.calls).toEqual([[{ event: 'gemini.store_not_taken', address: stub.baseUrl }]]);
    } finally {
      warn.mockRestore();
    }
  });
});

describe('several pictures', () => {
  const three = () => requestFor(aCat, { input: { n: 3 } });
  const asUsual: Fault = { delayMs: 0 };
  afterEach(() => jest.restoreAllMocks());

  it('report the tokens of each call, and announce the calls', async () => {
    const two = provider.prepare(requestFor(aCat, { input: { n: 2 } }));
    expect(two.calls).toBe(2);
    await two.generate(run);
    expect(run.reportedTokens).toEqual([
      [9, 1290],
      [9, 1290],
    ]);
  });

  it('are made by one call each', async () => {
    expect(await provider.prepare(three()).generate(run)).toHaveLength(3);
    expect([stub.submits, run.calls, run.checks]).toEqual([3, ['submitting'], 2 * 3]);
  });

  it('are not lost because one call was throttled: only that call is retried', async () => {
    stub.plan(CALL, GEMINI_FAULTS.perMinuteSoon);
    expect(await provider.prepare(three()).generate(run)).toHaveLength(3);
    expect([stub.count(CALL), stub.submits]).toEqual([4, 3]);
  });

  it('are not billed when every call was throttled', async () => {
    const { perMinute } = GEMINI_FAULTS;
    stub.plan(CALL, perMinute, perMinute, perMinute);
    const failure = await failureOf(provider.prepare(three()).generate(run));
    expect(failure).toMatchObject({ code: 'provider_unavailable', billing: 'none', retryAfterMs: 1170 });
    expect(stub.count(CALL)).toBe(3);
  });

  it('are not lost because the model was overloaded for one of them', async () => {
    const pauses = skipPauses((ms) => ms === 2_000);
    stub.plan(CALL, GEMINI_FAULTS.overloaded, GEMINI_FAULTS.internal);
    expect(await provider.prepare(three()).generate(run)).toHaveLength(3);
    expect([stub.submits, pauses, run.calls]).toEqual([3, [2_000], ['submitting']]);
  });

  it('are fewer when the model stays overloaded', async () => {
    const pauses = skipPauses((ms) => [2_000, 4_000, 8_000, 16_000, 30_000].includes(ms));
    stub.plan(CALL, GEMINI_FAULTS.overloaded, asUsual, asUsual);
    stub.plan(CALL, ...Array.from({ length: 5 }, () => GEMINI_FAULTS.overloaded));
    expect(await provider.prepare(three()).generate(run)).toHaveLength(2);
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 30_000]);
    expect([stub.submits, stub.count(CALL), run.calls]).toEqual([2, 8, ['submitting', 'fewer: 2, 0 unknown']]);
  });

  it.each<[string, Fault[], number]>([
    ['a connection breaks', [{ cut: 'midway' }], 1],
    ['the model makes none', [finishedBy('NO_IMAGE'), asUsual, asUsual, finishedBy('NO_IMAGE')], 0],
    ['one is refused', [finishedBy('IMAGE_SAFETY')], 0],
  ])('are fewer when %s, and those that are there are kept', async (_why, faults, unknown) => {
    stub.plan(CALL, ...faults);
    expect(await provider.prepare(three()).generate(run)).toHaveLength(2);
    expect(run.calls.at(-1)).toBe(`fewer: 2, ${unknown} unknown`);
    expect(stub.count(CALL)).toBe(faults.length < 4 ? 3 : 4);
  });

  it('have an unknown outcome when no call made one and a connection broke', async () => {
    stub.plan(CALL, { cut: 'after' }, GEMINI_FAULTS.html, GEMINI_FAULTS.html);
    const failure = await failureOf(provider.prepare(three()).generate(run));
    expect(failure).toMatchObject({ code: 'provider_outcome_unknown', billing: 'unknown' });
  });

  it('all fail when one of them fails for good, and may have been billed', async () => {
    stub.plan(CALL, 'hang', GEMINI_FAULTS.badInput, 'hang'); // without the abort, the other calls would last for 300 s
    const failure = await failureOf(provider.prepare(three()).generate(run));
    expect(failure).toMatchObject({ code: 'provider_rejected', billing: 'unknown' });
  });
});
