import { jest } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { ArkStub, type ArkEnding } from '../../../test/support/stubs/ark.stub.ts';
import { skipPauses } from '../../../test/support/clock.ts';
import { JobContext, until } from '../../../test/support/stubs/job-context.ts';
import { failureOf, inputImage, type RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import type { Fault } from '../../../test/support/stubs/stub-http.ts';
import { newTaskId } from '../../tasks/record/task-id.ts';
import { probe } from '../../generation/images/probe.ts';
import { type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { arkProvider } from './ark.provider.ts';

const ark = arkProvider;
const TASKS = '/api/v3/contents/generations/tasks';
const CREATE = /^POST .*\/tasks$/;
const READ = /^GET .*\/tasks\/cgt/;
const FETCH = /^GET \/store\//;
let stub: ArkStub;
let run: RecordedRun;
let seedance: ProviderRequest;
let sora: ProviderRequest;

const ground = new JobContext({
  provider: ark,
  newStub: () => new ArkStub(),
  baseUrlOf: (stub) => stub.baseUrl,
  models: { picture: 'none', film: 'doubao-seedance-2-0-260128' },
});
beforeEach(async () => {
  ({ stub, run, film: seedance } = await ground.fresh());
  sora = {
    ...requestFor(seedance, { input: { aspect_ratio: '16:9', resolution: '1080P' } }),
    taskId: newTaskId(),
    model: 'sora-2',
  };
});
afterEach(() => ground.clear());

async function made(request: ProviderRequest, of = run): Promise<string | undefined> {
  const [film, ...more] = await ground.made(request, of);
  expect(more).toEqual([]);
  return film;
}

const sent = () => [...stub.tasks.values()].at(-1)?.fields as { content: { role?: string; text?: string }[] };
const roles = () => sent().content.map(({ role }) => role ?? 'text');

describe('a video', () => {
  it('is recognised by the probe as the requested video', async () => {
    stub.real = true;
    const [output] = await ark.prepare(seedance).generate(run);
    expect(await probe(output!)).toMatchObject({ type: 'video', contentType: 'video/mp4', duration: 5 });
  });

  it('is submitted once, polled and downloaded, and reports to the run in order', async () => {
    expect(await made(seedance)).toBe('film of cgt-20261120-00001');
    expect(stub.submits).toBe(1);
    expect(run.calls).toEqual(['submitting', 'submitted cgt-20261120-00001']);
    expect(stub.requests.every(({ key, path }) => key === (path.startsWith('/store') ? 'none' : 'right'))).toBe(true);
    expect(stub.requests[0]?.headers['x-client-request-id']).toBe(seedance.taskId);
  });

  it('is requested with every value stated', async () => {
    await made(seedance);
    expect(sent()).toEqual({
      model: 'doubao-seedance-2-0-260128',
      content: [{ type: 'text', text: 'a boat' }],
      resolution: '720p',
      ratio: '21:9',
      duration: 5,
      seed: expect.any(Number),
      generate_audio: true,
      watermark: false,
    });
  });

  it('has no approximation for any ratio, resolution or duration that both models allow', async () => {
    stub.steps = { queued: 0, running: 0 };
    for (const aspect_ratio of ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16']) {
      for (const resolution of ['720p', '1080p'])
        await made(requestFor(seedance, { input: { aspect_ratio, resolution } }), ground.freshRun());
      for (const resolution of ['720P', '1080P', '4K']) {
        const request = requestFor(sora, { input: { aspect_ratio, resolution } });
        expect(ark.prepare(request).approximations).toEqual([]);
        await made(request, ground.freshRun());
        expect(sent()).toMatchObject({ ratio: aspect_ratio, resolution: resolution.toLowerCase() });
      }
    }
    for (let duration = 4; duration <= 15; duration++) {
      await made(requestFor(sora, { input: { duration } }), ground.freshRun());
      expect(sent()).toMatchObject({ duration });
    }
    expect(stub.requests.filter(({ path }) => path === TASKS)).toHaveLength(stub.submits);
  });

  it.each([1, 3, 16, 20])('of %d s is refused, or rounded and recorded if the operator allows it', async (duration) => {
    const request = requestFor(sora, { input: { duration } });
    expect(() => ark.prepare(request).approximations).toThrow(UnsupportedRequest);
    const nearest = requestFor(request, { upstream: { durationPolicy: 'nearest' } });
    const used = duration < 4 ? 4 : 15;
    expect(ark.prepare(nearest).approximations).toEqual([{ param: 'duration', requested: duration, used }]);
    await made(nearest);
    expect(sent()).toMatchObject({ duration: used });
  });

  it.each(['doubao-seedance-2-0-fast-260128', 'doubao-seedance-2-0-mini-260615'])('of %s has at most 720p', (model) => {
    expect(() => ark.prepare(requestFor(sora, { upstream: { model } })).approximations).toThrow(UnsupportedRequest);
    expect(
      ark.prepare(requestFor(sora, { upstream: { model }, input: { resolution: '720P' } })).approximations,
    ).toEqual([]);
  });

  it('cannot be an image', () => {
    expect(() => ark.prepare({ ...seedance, kind: 'image' }).approximations).toThrow(UnsupportedRequest);
  });
});

describe('images', () => {
  const FIRST = { first_frame_image_url: 'https://a.example/1.png' };
  const REFERENCE = { reference_image_url: 'https://a.example/2.png' };

  it.each([
    ['sora-2', 'omni', FIRST, ['reference_image'], []],
    ['sora-2', 'first_last', FIRST, ['first_frame'], [['reference_mode', 'first_last', 'first_frame']]],
    ['sora-2', 'multi_frame', FIRST, ['reference_image'], [['reference_mode', 'multi_frame', 'omni']]],
    ['sora-2', 'omni', {}, [], []],
    ['sora-2', 'first_last', {}, [], []],
    ['sora-2', 'multi_frame', {}, [], []],
    ['seedance-2', 'omni', FIRST, ['first_frame'], []],
    ['seedance-2', 'first_frame', FIRST, ['first_frame'], []],
    ['seedance-2', 'omni', REFERENCE, ['reference_image'], []],
    [
      'seedance-2',
      'omni',
      { ...FIRST, ...REFERENCE },
      ['reference_image', 'reference_image'],
      [['first_frame_image_url', 'first_frame', 'reference_image']],
    ],
    ['seedance-2', 'omni', {}, [], []],
  ])('%s in mode %s with %j sends the roles %j', async (model, reference_mode, urls, wanted, noted) => {
    const image = await inputImage(400, 300, 'jpeg');
    const request = requestFor(model === 'sora-2' ? sora : seedance, {
      input: { reference_mode, ...urls },
      images: {
        firstFrame: 'first_frame_image_url' in urls ? image : null,
        references: 'reference_image_url' in urls ? [await inputImage(300, 400)] : [],
      },
    });
    expect(ark.prepare(request).approximations).toEqual(
      noted.map(([param, requested, used]) => ({ param, requested, used })),
    );
    await made(request);
    expect(roles()).toEqual(['text', ...wanted]);
    if (wanted.length === 2) expect(sent().content[0]?.text).toMatch(/@image1 is the opening frame/);
    if ('first_frame_image_url' in urls)
      expect(sent().content[1]).toMatchObject({
        image_url: { url: `data:image/jpeg;base64,${readFileSync(image.path, 'base64')}` },
      });
  });

  it.each([
    [299, 400],
    [6001, 3000],
    [1000, 390],
    [390, 1000],
  ])('of %d x %d are left to another provider, and nothing is sent', async (width, height) => {
    const firstFrame = { ...(await inputImage(10, 10)), width, height };
    const request = requestFor(sora, { input: FIRST, images: { firstFrame, references: [] } });
    expect(() => ark.prepare(request).approximations).toThrow(UnsupportedRequest);
    expect(stub.requests).toEqual([]);
  });

  it('are refused in first_frame mode without a first frame, or with a reference', () => {
    expect(
      () => ark.prepare(requestFor(seedance, { input: { reference_mode: 'first_frame' } })).approximations,
    ).toThrow(UnsupportedRequest);
    const both = { reference_mode: 'first_frame', ...FIRST, ...REFERENCE };
    expect(() => ark.prepare(requestFor(seedance, { input: both })).approximations).toThrow(UnsupportedRequest);
  });
});

describe('a refused create call', () => {
  const error = (code: string, message = 'm') => ({ error: { code, message, request_id: 'req-1' } });
  it.each([
    [400, 'MissingParameter', '', 'provider_rejected'],
    [400, 'InvalidParameter.ratio', '', 'provider_rejected'],
    [400, 'InvalidImageURL.Format', '', 'provider_rejected'],
    [400, 'InputTextSensitiveContentDetected', '', 'content_policy_violation'],
    [400, 'InputImageSensitiveContentDetected.PrivacyInformation', '', 'content_policy_violation'],
    [400, 'InputTextRiskDetection', '', 'content_policy_violation'],
    [400, 'ContentSecurityDetectionError', '', 'provider_unavailable'],
    [401, 'AuthenticationError', '', 'provider_rejected'],
    [403, 'AccessDenied', '', 'provider_rejected'],
    [403, 'OperationDenied.ServiceNotOpen', '', 'provider_rejected'],
    [403, 'OperationDenied.ServiceOverdue', '', 'provider_quota_exceeded'],
    [403, 'AccountOverdueError', '', 'provider_quota_exceeded'],
    [404, 'InvalidEndpointOrModel.NotFound', '', 'provider_rejected'],
    [404, 'ModelNotOpen', '', 'provider_rejected'],
    [429, 'RateLimitExceeded.EndpointRPMExceeded', '', 'provider_unavailable'],
    [429, 'ModelAccountIpmRateLimitExceeded', '', 'provider_unavailable'],
    [429, 'RequestBurstTooFast', '', 'provider_unavailable'],
    [429, 'InflightBatchsizeExceeded', '', 'provider_unavailable'],
    [429, 'ServerOverloaded', '', 'provider_unavailable'],
    [429, 'SetLimitExceeded', '', 'provider_quota_exceeded'],
    [429, 'QuotaExceeded', 'too many queued tasks', 'provider_unavailable'],
    [429, 'QuotaExceeded', 'your free quota is used up', 'provider_quota_exceeded'],
    [429, 'SomethingNew', '', 'provider_unavailable'],
    [418, 'SomethingNew', '', 'provider_rejected'],
  ])('%d %s %s is %s, not billed', async (status, code, message, wanted) => {
    stub.plan(CREATE, { reply: { status, headers: { 'retry-after': '7' }, body: error(code, message) } });
    const failure = await failureOf(ark.prepare(seedance).generate(run));
    expect(failure).toMatchObject({ name: 'ProviderError', code: wanted, billing: 'none' });
    expect(failure.cause).toMatchObject({ provider: 'ark', status, code, request_id: 'req-1' });
    if (wanted === 'provider_unavailable') expect(failure.retryAfterMs).toBe(7000);
    expect(stub.count(CREATE)).toBe(1);
    expect(run.calls).toEqual(['submitting']);
  });
});

describe('a create call with an unknown outcome', () => {
  const FATES: [string, Fault][] = [
    ['cut before it was read', { cut: 'before' }],
    ['500', { reply: { status: 500, body: { error: { code: 'InternalServiceError' } } } }],
    ['502 of a gateway', { reply: { status: 502, body: '<html>' } }],
    ['503 without a hint', { reply: { status: 503, body: {} } }],
    ['408', { reply: { status: 408, body: {} } }],
    ['200 without an id', { reply: { status: 200, body: {} } }],
    ['200 of a foreign page', { reply: { status: 200, body: '<html>' } }],
  ];
  it.each(FATES)('(%s) is looked up in the list, not sent again, and stays unknown', async (_what, fault) => {
    stub.plan(CREATE, fault);
    const failure = await failureOf(ark.prepare(seedance).generate(run));
    expect(failure).toMatchObject({ code: 'provider_outcome_unknown', billing: 'unknown' });
    expect(stub.count(CREATE)).toBe(1);
    expect(stub.count(/^GET .*\/tasks$/)).toBe(3);
  });

  it.each([true, false])(
    'is found and polled if only the reply was lost (list contains seeds: %s)',
    async (listsSeeds) => {
      stub.listsSeeds = listsSeeds;
      await made({ ...seedance, taskId: newTaskId() }, ground.freshRun());
      stub.plan(CREATE, { cut: 'after' });
      expect(await made(seedance)).toBe('film of cgt-20261120-00002');
      expect(stub.submits).toBe(2);
      expect(run.calls).toEqual(['submitting', 'submitted cgt-20261120-00002']);
    },
  );
});

describe('find', () => {
  const never = new AbortController().signal;

  it('finds the task among others after a crash', async () => {
    for (let other = 0; other < 130; other++) {
      if (other === 20) await made(seedance);
      else stub.tasks.set(`cgt-${other}`, { ...another(), id: `cgt-${other}` });
    }
    expect(await ark.find!(seedance, never, Date.now())).toBe('cgt-20261120-00001');
    expect(await ark.find!({ ...seedance, taskId: newTaskId() }, never, Date.now())).toBeNull();
  });

  it('does not report the task as missing when the list cannot be read', async () => {
    const refusal: Fault = { reply: { status: 403, body: {} } };
    stub.plan(/^GET .*\/tasks$/, refusal, refusal, refusal);
    expect(await failureOf(ark.find!(seedance, never, Date.now()))).toMatchObject({ code: 'provider_outcome_unknown' });
  });

  it.each([{}, { items: null, total: 0 }, { items: [] }])('does not mistake %j for an empty list', async (body) => {
    stub.plan(/^GET .*\/tasks$/, { reply: { status: 200, body } });
    expect(await failureOf(ark.find!(seedance, never, Date.now()))).toMatchObject({ code: 'provider_outcome_unknown' });
  });

  const another = () => ({
    model: 'm',
    fields: { seed: 7 },
    createdAt: Date.now() / 1000,
    polls: 0,
    ending: 'succeeded' as const,
    cancelled: false,
    id: '',
  });
});

describe('polling', () => {
  it('waits as long as Retry-After asks', async () => {
    stub.plan(READ, { reply: { status: 429, headers: { 'retry-after': '7' }, body: {} } });
    const pauses = skipPauses((ms) => ms === 7_000);
    await made(seedance);
    jest.restoreAllMocks();
    expect(pauses).toHaveLength(1);
  });

  it.each<[ArkEnding, string]>([
    ['expired', 'provider_timeout'],
    ['cancelled', 'internal_error'],
    ['no film', 'provider_no_result'],
    [{ code: 'OutputVideoSensitiveContentDetected.PolicyViolation' }, 'content_policy_violation'],
    [{ code: 'InputImageSensitiveContentDetected' }, 'content_policy_violation'],
    [{ code: 'InternalServiceError' }, 'provider_unavailable'],
    [{ code: 'InvalidParameter.image' }, 'provider_rejected'],
    [{ code: 'AccountOverdueError' }, 'provider_quota_exceeded'],
    [{ code: 'Unheard' }, 'internal_error'],
  ])('a task that ends with %j is %s, charged', async (ending, code) => {
    stub.endings.push(ending);
    expect(await failureOf(ark.prepare(seedance).generate(run))).toMatchObject({ code, billing: 'charged' });
    expect(stub.submits).toBe(1);
  });

  it('reports progress that stays below the end', async () => {
    stub.steps = { queued: 1, running: 3 };
    stub.aheadS = -120;
    await made(seedance);
    expect(run.percents.length).toBeGreaterThan(1);
    expect(run.percents.every((percent) => percent > 40 && percent <= 95)).toBe(true);
  });
});

describe('the download', () => {
  it('gets a new link when the old one is dead', async () => {
    stub.plan(FETCH, { reply: { status: 403, body: '' } });
    expect(await made(seedance)).toBe('film of cgt-20261120-00001');
    expect(
      new Set(stub.requests.filter(({ path }) => path.startsWith('/store')).map(({ query }) => query.n)).size,
    ).toBe(2);
  });

  it('gives up a link that stays dead, and never logs its signature', async () => {
    const dead: Fault = { reply: { status: 403, body: '' } };
    stub.plan(FETCH, dead, dead, dead);
    const failure = await failureOf(ark.prepare(seedance).generate(run));
    expect(failure).toMatchObject({ code: 'internal_error', billing: 'charged', cause: { status: 403 } });
    expect(JSON.stringify(failure.cause)).not.toContain('s3cr3t');
  });

  it('calls no private address except the upstream itself', async () => {
    const url = 'http://169.254.169.254/latest/meta-data';
    for (let times = 0; times < 3; times++)
      stub.plan(READ, { reply: { status: 200, body: { status: 'succeeded', content: { video_url: url } } } });
    expect(await failureOf(ark.prepare(seedance).generate(run))).toMatchObject({ code: 'internal_error' });
    stub.plan(FETCH, { reply: { status: 302, headers: { location: 'http://10.0.0.1/' }, body: '' } });
    expect(await failureOf(ark.prepare(seedance).generate(run))).toMatchObject({ code: 'internal_error' });
  });
});

describe('stopping', () => {
  it('knows of a queued task that it never ran, but not of one that had ended', async () => {
    const { signal } = new AbortController();
    stub.steps = { queued: 1_000, running: 0 };
    const going = failureOf(ark.prepare(seedance).generate(run));
    await until(() => stub.count(READ) >= 1);
    expect(await ark.cancel(seedance, 'cgt-20261120-00001', signal)).toBe(true);
    run.stop('ended');
    await going;
    stub.steps = { queued: 0, running: 0 };
    const other = ground.freshRun();
    await ark.prepare(seedance).generate(other);
    expect(other.reportedTokens).toEqual([[0, 108_900]]);
    expect(await ark.cancel(seedance, 'cgt-20261120-00002', signal)).toBeUndefined();
  });

  it('reports the refusal to cancel a running task: it goes on, and is billed', async () => {
    const { signal } = new AbortController();
    stub.endings.push('never');
    const going = failureOf(ark.prepare(seedance).generate(run));
    await until(() => stub.count(READ) >= 3);
    const refusal = await failureOf(ark.cancel(seedance, 'cgt-20261120-00001', signal));
    expect(refusal.cause).toMatchObject({ provider: 'ark', status: 403 });
    expect(stub.tasks.get('cgt-20261120-00001')?.cancelled).toBe(false);
    run.stop('ended');
    await going;
  });
});
