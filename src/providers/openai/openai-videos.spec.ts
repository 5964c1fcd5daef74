import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { OPENAI_FAULTS } from '../../../test/support/stubs/openai-faults.ts';
import type { Fault } from '../../../test/support/stubs/stub-http.ts';
import { eventually } from '../../../test/support/wait.ts';
import { failureOf, inputImage, RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { OpenaiStub } from '../../../test/support/stubs/openai.stub.ts';
import { FilmsStub } from '../../../test/support/stubs/films.stub.ts';
import { probe } from '../../generation/images/probe.ts';
import { prepareRequest } from '../contract/prepare-request.ts';
import { type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { takenBesides } from './dialects.ts';
import { openaiProvider } from './openai.provider.ts';

const CREATE = /POST \/v1\/videos/;
const POLL = /GET \/v1\/videos\/[^/]+$/;
const CONTENT = /GET .*\/content$/;
const provider = openaiProvider;

let stub: OpenaiStub;
let run: RecordedRun;
let aWave: ProviderRequest;

beforeEach(async () => {
  stub = await new OpenaiStub().start();
  run = new RecordedRun();
  aWave = {
    taskId: 'task_01',
    model: 'sora-2',
    kind: 'video',
    input: { prompt: 'a wave', aspect_ratio: '16:9', resolution: '720P', duration: 4, reference_mode: 'omni' },
    images: { references: [], firstFrame: null },
    upstream: {
      model: 'sora-2',
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

it('submits once, records the job before the first poll, and downloads the video', async () => {
  const [film] = await provider.prepare(aWave).generate(run);
  expect(await probe(film)).toMatchObject({ type: 'video', width: 1280, height: 720, duration: 4 });
  const [id = ''] = stub.jobs.keys();
  expect(run.calls).toEqual(['submitting', `submitted ${id}`]);
  expect(run.requestId).toBe('req_1');
  expect(run.percents).toEqual([0, 66]);
  expect(stub.submits).toBe(1);
  expect(stub.requests[0]?.fields).toEqual({ model: 'sora-2', prompt: 'a wave', seconds: '4', size: '1280x720' });
  expect(stub.requests.every(({ key }) => key === 'right')).toBe(true);
});

it('works with a server that answers only id and status', async () => {
  stub.minimal = true;
  expect(await provider.prepare(aWave).generate(run)).toHaveLength(1);
});

it('continues to poll a known job, and submits nothing', async () => {
  await provider.prepare(aWave).generate(run);
  const [id = ''] = stub.jobs.keys();
  const next = new RecordedRun(id, true);
  expect(await provider.prepare(aWave).generate(next)).toHaveLength(1);
  expect([next.calls, stub.submits]).toEqual([[], 1]);
  next.close();
});

describe('the limits of sora', () => {
  it.each([
    ['9:16', '720P', 8, []],
    ['16:9', '720P', 12, []],
  ])('%s %s %i s exactly', (aspect_ratio, resolution, duration, near) => {
    expect(
      provider.prepare(requestFor(aWave, { input: { aspect_ratio, resolution, duration } })).approximations,
    ).toEqual(near);
  });

  it.each([
    [{ aspect_ratio: '21:9' }, 'aspect_ratio'],
    [{ aspect_ratio: '1:1' }, 'aspect_ratio'],
    [{ resolution: '1080P' }, 'resolution'],
    [{ resolution: '4K' }, 'resolution'],
    [{ duration: 5 }, 'duration'],
  ])('declines %j', (input, param) => {
    expect(() => provider.prepare(requestFor(aWave, { input })).approximations).toThrow(
      expect.objectContaining({ name: 'UnsupportedRequest', param }),
    );
  });

  it.each([
    [1, 4],
    [5, 4],
    [6, 8],
    [9, 8],
    [10, 12],
    [20, 12],
  ])('approximates %i s by %i s if the operator allows it, and records it', async (duration, used) => {
    const request = requestFor(aWave, { input: { duration }, upstream: { durationPolicy: 'nearest' } });
    expect(provider.prepare(request).approximations).toEqual([{ param: 'duration', requested: duration, used }]);
    await provider.prepare(request).generate(run);
    expect(stub.requests[0]?.fields.seconds).toBe(String(used));
  });
});

it.each(
  ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'].flatMap((ratio) =>
    ['720P', '1080P', '4K'].map((resolution) => [ratio, resolution] as const),
  ),
)('requests %s in %s unchanged from another server', (aspect_ratio, resolution) => {
  const input = { aspect_ratio, resolution, duration: 5 };
  expect(provider.prepare(requestFor(aWave, { input, upstream: { model: 'wan2.2' } })).approximations).toEqual([]);
});

describe('an image', () => {
  it.each(['omni', 'first_last', 'multi_frame'])('in mode %s starts the video, which is recorded', async (mode) => {
    const firstFrame = await inputImage(320, 180, 'jpeg');
    const request = requestFor(aWave, { input: { reference_mode: mode }, images: { references: [], firstFrame } });
    const near = [{ param: 'reference_mode', requested: mode, used: 'first_frame' }];
    expect(provider.prepare(request).approximations).toEqual(near);
    await provider.prepare(request).generate(run);
    const [{ files }] = stub.requests;
    expect(files.map(({ field, type }) => [field, type])).toEqual([['input_reference', 'image/jpeg']]);
    expect(await sharp(files[0].bytes).metadata()).toMatchObject({ format: 'jpeg', width: 1280, height: 720 });
  });

  it('of another ratio is cropped to the video, which is recorded', async () => {
    const firstFrame = await inputImage(300, 300);
    const request = requestFor(aWave, {
      input: { reference_mode: 'first_frame' },
      images: { references: [], firstFrame },
    });
    const used = 'cropped to 1280x720';
    expect(provider.prepare(request).approximations).toEqual([
      { param: 'first_frame_image_url', requested: '300x300', used },
    ]);
  });

  it('is one at most', async () => {
    const [firstFrame, reference] = [await inputImage(16, 9), await inputImage(16, 9)];
    const request = requestFor(aWave, { images: { references: [reference], firstFrame } });
    expect(() => provider.prepare(request).approximations).toThrow(
      expect.objectContaining({ param: 'reference_image_url' }),
    );
  });
});

describe('a submit', () => {
  it.each<[keyof typeof OPENAI_FAULTS, string, string]>([
    ['contentPolicy', 'content_policy_violation', 'charged'],
    ['badKey', 'provider_rejected', 'none'],
    ['noModel', 'provider_rejected', 'none'],
    ['detailOnly', 'provider_rejected', 'none'],
    ['rateLimited', 'provider_unavailable', 'none'],
    ['noQuota', 'provider_quota_exceeded', 'none'],
    ['overloaded', 'provider_unavailable', 'none'],
    ['serverError', 'provider_outcome_unknown', 'unknown'],
    ['badGateway', 'provider_outcome_unknown', 'unknown'],
    ['junkJson', 'internal_error', 'charged'],
    ['noData', 'internal_error', 'charged'],
  ])('that fails with %s is %s, billing: %s', async (fault, code, billing) => {
    stub.plan(CREATE, OPENAI_FAULTS[fault]);
    expect(await failureOf(provider.prepare(aWave).generate(run))).toMatchObject({ code, billing });
    expect(stub.count(CREATE)).toBe(1);
  });

  it.each<[Fault & object, number]>([
    [{ cut: 'before' }, 0],
    [{ cut: 'after' }, 1],
    [{ cut: 'midway' }, 1],
  ])('cut off (%j) has an unknown outcome, and is not repeated', async (fault, submits) => {
    stub.plan(CREATE, fault);
    const failure = await failureOf(provider.prepare(aWave).generate(run));
    expect(failure).toMatchObject({ code: 'provider_outcome_unknown', billing: 'unknown' });
    expect([stub.count(CREATE), stub.submits]).toEqual([1, submits]);
  });

  it('without a connection is not billed', async () => {
    const request = requestFor(aWave, { upstream: { baseUrl: 'http://127.0.0.1:1/v1' } });
    const failure = await failureOf(provider.prepare(request).generate(run));
    expect(failure).toMatchObject({ code: 'provider_unavailable', billing: 'none' });
  });
});

describe('polling', () => {
  it('retries temporary failures', async () => {
    const { serverError, badGateway, junkJson } = OPENAI_FAULTS;
    const busy: Fault = { reply: { status: 429, body: {} } };
    stub.plan(POLL, serverError, { cut: 'before' }, badGateway, { cut: 'midway' }, busy, junkJson);
    expect(await provider.prepare(aWave).generate(run)).toHaveLength(1);
    expect(stub.submits).toBe(1);
  });

  it('retries a record that is not found twice, and fails the third time in a row', async () => {
    const { noModel: notFound } = OPENAI_FAULTS;
    stub.plan(POLL, notFound, notFound);
    expect(await provider.prepare(aWave).generate(run)).toHaveLength(1);
    const next = new RecordedRun('video_lost');
    const failure = await failureOf(provider.prepare(aWave).generate(next));
    expect(failure).toMatchObject({ code: 'internal_error', billing: 'charged' });
    expect(stub.requests.filter(({ path }) => path.endsWith('video_lost'))).toHaveLength(3);
    next.close();
  });

  it.each([
    ['moderation_blocked', 'content_policy_violation'],
    ['insufficient_quota', 'provider_quota_exceeded'],
    ['generation_timeout', 'provider_timeout'],
    ['server_error', 'provider_unavailable'],
    ['invalid_prompt', 'provider_rejected'],
    ['video_generation_failed', 'internal_error'],
  ])('maps the job failure %s to %s', async (code, ours) => {
    stub.jobError = { code, message: `failed with ${stub.key}` };
    const failure = await failureOf(provider.prepare(aWave).generate(run));
    expect(failure).toMatchObject({ code: ours, billing: 'charged', cause: { provider: 'openai', code } });
    expect(JSON.stringify(failure.cause)).not.toContain(stub.key);
  });

  const said = (status: unknown, more: object = {}): Fault => ({
    reply: { status: 200, body: { id: 'video_1', object: 'video', status, ...more } },
  });

  it.each(['completed', 'succeeded', 'SUCCESS', 'Success', 'done', 'FINISHED', 'succeed', 'ready', ' complete '])(
    'takes %s as the end',
    async (status) => {
      stub.plan(POLL, said('queued'), said('IN-PROGRESS', { progress: 40 }), said(status));
      stub.plan(CONTENT, { reply: { status: 200, body: 'a film' } });
      expect(await provider.prepare(aWave).generate(run)).toHaveLength(1);
      expect([stub.count(POLL), run.percents]).toEqual([3, [40]]);
    },
  );

  it('takes the end from the field "state"', async () => {
    stub.plan(POLL, said(undefined, { state: 'succeeded' }));
    stub.plan(CONTENT, { reply: { status: 200, body: 'a film' } });
    expect(await provider.prepare(aWave).generate(run)).toHaveLength(1);
  });

  it.each([
    'failed',
    'error',
    'FAILURE',
    'Fail',
    'cancelled',
    'CANCELED',
    'expired',
    'rejected',
    'aborted',
    'Timed Out',
  ])('takes %s as a failure at once', async (status) => {
    stub.plan(POLL, said(status));
    const failure = await failureOf(provider.prepare(aWave).generate(run));
    expect(failure).toMatchObject({ billing: 'charged', cause: { code: status } });
    expect(stub.count(POLL)).toBe(1);
  });

  it.each([
    [500, 'internal_error'],
    [422, 'provider_rejected'],
  ])('ends with a failed job that comes with HTTP %d', async (status, code) => {
    const body = { id: 'video_1', object: 'video', status: 'failed', error: { code: status, message: 'CUDA' } };
    stub.plan(POLL, { reply: { status, body } });
    const failure = await failureOf(provider.prepare(aWave).generate(run));
    expect(failure).toMatchObject({ code, billing: 'charged', cause: { code: String(status), message: 'CUDA' } });
    expect(stub.count(POLL)).toBe(1);
  });

  it('reports an unknown state that lasts, and finds the finished film', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    stub.pollsToComplete = 4;
    stub.plan(POLL, said('verarbeitet'), said('verarbeitet'), said('verarbeitet'), said('verarbeitet'));
    const notYet: Fault = { reply: { status: 404, body: {} } };
    stub.plan(CONTENT, notYet, { reply: { status: 200, headers: { 'content-type': 'video/mp4' }, body: 'a film' } });
    stub.plan(CONTENT, { reply: { status: 200, headers: { 'content-type': 'video/mp4' }, body: 'a film' } });
    try {
      const [film] = await provider.prepare(aWave).generate(run);
      expect((await readFile((film as { path: string }).path)).toString()).toBe('a film');
      const [id] = stub.jobs.keys();
      const seen = { task_id: 'task_01', provider: 'openai', upstream_id: id, state: 'verarbeitet' };
      expect(warn.mock.calls).toEqual([[{ event: 'job.unknown_state', ...seen }]]);
      expect([stub.count(POLL), stub.count(CONTENT)]).toEqual([4, 3]);
    } finally {
      warn.mockRestore();
    }
  });

  it('takes neither an error nor a page for the film of an unknown state', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    stub.plan(POLL, ...Array.from({ length: 6 }, () => said('')), said('completed'));
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' };
    stub.plan(CONTENT, { reply: page }, { cut: 'before' }, { reply: { status: 200, body: { error: 'not yet' } } });
    stub.plan(CONTENT, { reply: { status: 500, body: '' } }, { reply: { status: 200, body: 'a film' } });
    try {
      expect(await provider.prepare(aWave).generate(run)).toHaveLength(1);
      expect([stub.count(POLL), stub.count(CONTENT)]).toEqual([7, 5]);
    } finally {
      warn.mockRestore();
    }
  });

  it('ends with the reason of the signal, between polls', async () => {
    stub.pollsToComplete = 10_000;
    const failure = failureOf(
      provider.prepare(requestFor(aWave, { upstream: { pollIntervalMs: 3_600_000 } })).generate(run),
    );
    await eventually('the job', async () => stub.submits === 1);
    run.stop('deadline'); // without the abort, it would wait for an hour
    expect(await failure).toBe('deadline');
  });
});

describe('the download', () => {
  it('is repeated without another job', async () => {
    stub.plan(CONTENT, OPENAI_FAULTS.serverError, { cut: 'before' }, { cut: 'midway' }, OPENAI_FAULTS.noModel);
    const [film] = await provider.prepare(aWave).generate(run);
    expect((await readFile((film as { path: string }).path)).subarray(4, 8).toString()).toBe('ftyp');
    expect([stub.submits, stub.count(CONTENT)]).toEqual([1, 5]);
  });

  it('of a deleted video fails the task', async () => {
    const { noModel: gone } = OPENAI_FAULTS;
    stub.plan(CONTENT, gone, gone, gone, gone);
    const failure = await failureOf(provider.prepare(aWave).generate(run));
    expect(failure).toMatchObject({ code: 'internal_error', billing: 'charged' });
  });
});

describe('SGLang', () => {
  let sglang: FilmsStub;
  beforeEach(async () => {
    sglang = await new FilmsStub('sglang').start();
    const declared = { provider: 'openai' as const, dialect: 'sglang', model: 'wan' };
    const upstream = { model: 'wan', baseUrl: sglang.baseUrl, apiKey: sglang.key, declared };
    aWave = requestFor(aWave, { input: { size: '64x64', duration: 2, seed: 7, negative_prompt: 'blur' }, upstream });
  });
  afterEach(() => sglang.stop());

  it('gets JSON without an image, with seconds as a number', async () => {
    const [film] = await provider.prepare(aWave).generate(run);
    expect(await probe(film)).toMatchObject({ type: 'video', width: 64, height: 64, duration: 2 });
    const basic = { model: 'wan', prompt: 'a wave', size: '64x64' };
    expect(sglang.requests[0]?.fields).toEqual({ ...basic, seconds: 2, seed: 7, negative_prompt: 'blur' });
    expect(run.sentSeeds).toEqual([7]);
  });

  it('gets a form with an image', async () => {
    const firstFrame = await inputImage(64, 64);
    const request = requestFor(aWave, {
      input: { reference_mode: 'first_frame' },
      images: { references: [], firstFrame },
    });
    expect(await provider.prepare(request).generate(run)).toHaveLength(1);
    expect(sglang.requests[0]?.files.map(({ field }) => field)).toEqual(['input_reference']);
    expect(sglang.requests[0]?.fields).toMatchObject({ seconds: '2', seed: '7' });
  });

  it('makes no sound, and says of a failed job only a message', async () => {
    expect(() => provider.prepare(requestFor(aWave, { input: { generate_audio: true } }))).toThrow(
      expect.objectContaining({ param: 'generate_audio' }),
    );
    sglang.jobError = 'out of memory';
    expect(await failureOf(provider.prepare(aWave).generate(run))).toMatchObject({ code: 'internal_error' });
  });

  it('never confirms a cancel: it only forgets the job', async () => {
    await provider.prepare(aWave).generate(run);
    expect(await provider.cancel(aWave, 'video_1', new AbortController().signal)).toBeUndefined();
  });
});

describe('of what servers differ in', () => {
  const SERVERS = ['openai', 'litellm', 'vllm-omni', 'sglang'] as const;
  const NONE = 'none';
  const others: FilmsStub[] = [];
  beforeAll(async () => {
    for (const server of ['vllm-omni', 'sglang'] as const) others.push(await new FilmsStub(server).start());
  });
  afterAll(() => Promise.all(others.map((other) => other.stop())));

  const stubOf = (server: string) => (server === 'vllm-omni' ? others[0]! : server === 'sglang' ? others[1]! : stub);
  const asked = (server: string, input: object) =>
    requestFor(aWave, {
      input: { size: '64x64', duration: 2, ...input },
      upstream: {
        model: 'wan',
        baseUrl: stubOf(server).baseUrl,
        apiKey: stubOf(server).key,
        declared: { provider: 'openai', dialect: server, model: 'wan' },
      },
    });

  it.each<[string, object, string, unknown[]]>([
    ['the length', {}, 'seconds', ['2', '2', '2', 2]],
    ['the size', {}, 'size', ['64x64', '64x64', '64x64', '64x64']],
    ['a seed', { seed: 7 }, 'seed', [NONE, NONE, '7', 7]],
    ['a negative prompt', { negative_prompt: 'blur' }, 'negative_prompt', [NONE, NONE, 'blur', 'blur']],
    ['sound', { generate_audio: false }, 'generate_sound', [NONE, NONE, 'false', NONE]],
    ['a last frame', { last_frame_image_url: 'https://a/1' }, '', [NONE, NONE, NONE, NONE]],
  ])('%s', async (_row, input, field, expected) => {
    stub.sora = false;
    const seen = [];
    for (const server of SERVERS) {
      const { requests } = stubOf(server);
      const before = requests.length;
      try {
        await prepareRequest(provider, asked(server, input)).generate(run);
        const { fields, headers } = requests[before]!;
        seen.push(fields[field]);
        const type = server === 'sglang' ? 'application/json' : 'multipart/form-data';
        expect([server, headers['content-type']]).toEqual([server, expect.stringContaining(type)]);
      } catch (error) {
        if (!(error instanceof UnsupportedRequest)) throw error;
        expect(input).toHaveProperty(error.param);
        seen.push(NONE);
      }
    }
    expect(seen).toEqual(expected);
  });

  it('sends vLLM-Omni a first frame as a file, and reads a failed job from an answer with an error', async () => {
    const images = { references: [], firstFrame: await inputImage(64, 64) };
    const request = { ...asked('vllm-omni', { reference_mode: 'first_frame' }), images };
    expect(await provider.prepare(request).generate(run)).toHaveLength(1);
    const submits = others[0]!.requests.filter(({ method }) => method === 'POST');
    expect(submits.at(-1)!.files.map(({ field }) => field)).toEqual(['input_reference']);
    others[0]!.jobError = 'out of memory';
    expect(await failureOf(provider.prepare(request).generate(run))).toMatchObject({ code: 'internal_error' });
    others[0]!.jobError = null;
  });

  it('stops the job of vLLM-Omni', async () => {
    others[0]!.isWaiting = true;
    const failure = failureOf(provider.prepare(asked('vllm-omni', {})).generate(run));
    await eventually('the job', async () => run.calls.length > 1);
    run.stop('cancelled');
    await failure;
    const id = run.calls.at(-1)!.replace('submitted ', '');
    await provider.cancel(asked('vllm-omni', {}), id, new AbortController().signal);
    expect((await fetch(`${others[0]!.baseUrl}/videos/${id}`)).status).toBe(404);
    others[0]!.isWaiting = false;
  });

  it.each(['sd-server', 'localai', 'xinference'])('%s makes no films', (dialect) => {
    expect(takenBesides(dialect, 'video')).toBeNull();
  });
});

describe('cancel', () => {
  it('cancels the job upstream, if the server supports it', async () => {
    stub.sora = false;
    stub.pollsToComplete = 10_000;
    const failure = failureOf(provider.prepare(aWave).generate(run));
    await eventually('a poll', async () => stub.count(POLL) > 0);
    const [id = ''] = stub.jobs.keys();
    run.stop('cancelled');
    await failure;
    await provider.cancel(aWave, id, new AbortController().signal);
    expect(stub.jobs.size).toBe(0);
  });

  it('accepts that the job is gone', async () => {
    await expect(provider.cancel(aWave, 'video_unknown', new AbortController().signal)).resolves.toBeUndefined();
    expect(stub.count(/DELETE/)).toBe(1);
  });
});
