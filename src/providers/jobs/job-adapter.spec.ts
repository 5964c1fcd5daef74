import { jest } from '@jest/globals';
import { skipPauses, stopClock } from '../../../test/support/clock.ts';
import { ArkStub } from '../../../test/support/stubs/ark.stub.ts';
import { FalStub } from '../../../test/support/stubs/fal.stub.ts';
import { JobContext, until } from '../../../test/support/stubs/job-context.ts';
import { OpenaiStub } from '../../../test/support/stubs/openai.stub.ts';
import { failureOf, type RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { ReplicateStub } from '../../../test/support/stubs/replicate.stub.ts';
import type { Fault, StubHttp } from '../../../test/support/stubs/stub-http.ts';
import { eventually } from '../../../test/support/wait.ts';
import type { Provider, ProviderRequest } from '../contract/provider.ts';
import { arkProvider } from '../ark/ark.provider.ts';
import { falProvider } from '../fal/fal.provider.ts';
import { openaiProvider } from '../openai/openai.provider.ts';
import { replicateProvider } from '../replicate/replicate.provider.ts';

interface JobInterface {
  provider: Provider;
  newStub: () => StubHttp;
  /** Path of the API under the stub's origin. */
  path: string;
  model: string;
  submit: RegExp;
  read: RegExp;
  fetch: RegExp;
  cancel: RegExp;
}

const INTERFACES: [name: string, wire: JobInterface][] = [
  [
    'ark',
    {
      provider: arkProvider,
      newStub: () => new ArkStub(),
      path: '/api/v3',
      model: 'doubao-seedance-2-0-260128',
      submit: /^POST .*\/tasks$/,
      read: /^GET .*\/tasks\/cgt/,
      fetch: /^GET \/store\//,
      cancel: /^DELETE .*\/tasks\/cgt/,
    },
  ],
  [
    'fal',
    {
      provider: falProvider,
      newStub: () => new FalStub(),
      path: '',
      model: 'bytedance/seedance-2.0',
      submit: /^POST /,
      read: /^GET .*\/status$/,
      fetch: /^GET \/files\//,
      cancel: /^PUT .*\/cancel$/,
    },
  ],
  [
    'openai',
    {
      provider: openaiProvider,
      newStub: () => Object.assign(new OpenaiStub(), { sora: false }),
      path: '/v1',
      model: 'wan2.2',
      submit: /^POST \/v1\/videos$/,
      read: /^GET \/v1\/videos\/[^/]+$/,
      fetch: /^GET .*\/content$/,
      cancel: /^DELETE \/v1\/videos\//,
    },
  ],
  [
    'replicate',
    {
      provider: replicateProvider,
      newStub: () => new ReplicateStub(),
      path: '/v1',
      model: 'bytedance/seedance-2.0',
      submit: /^POST \/v1\/models\//,
      read: /^GET \/v1\/predictions\/pred/,
      fetch: /^GET \/delivery\//,
      cancel: /^POST .*\/cancel$/,
    },
  ],
];

describe.each(INTERFACES)('the job adapter of %s', (name, wire) => {
  const { provider, submit, read, fetch, cancel } = wire;
  const ground = new JobContext({
    provider,
    newStub: wire.newStub,
    baseUrlOf: (stub) => stub.origin + wire.path,
    models: { picture: 'none', film: wire.model },
  });
  let stub: StubHttp;
  let run: RecordedRun;
  let film: ProviderRequest;
  beforeEach(async () => {
    ({ stub, run, film } = await ground.fresh());
  });
  afterEach(() => ground.clear());
  afterEach(() => jest.restoreAllMocks());

  const refused = (status: number): Fault => ({ reply: { status, body: '<x>' } });
  const jobs = () => run.calls.filter((call) => call.startsWith('submitted ')).map((call) => call.slice(10));

  it('records the intent, then the job, and continues the job after a crash without another submit', async () => {
    const [first] = await ground.made(film);
    expect([run.calls, run.checks]).toEqual([['submitting', `submitted ${jobs()[0]}`], 2]);
    const again = ground.freshRun(jobs()[0], true);
    expect(await ground.made(film, again)).toEqual([first]);
    expect([stub.submits, again.calls]).toEqual([1, []]);
  });

  it('is not billed at an address where no server listens', async () => {
    const away = requestFor(film, { upstream: { baseUrl: 'http://127.0.0.1:9' } });
    expect(await failureOf(provider.prepare(away).generate(run))).toMatchObject({
      code: 'provider_unavailable',
      billing: 'none',
      cause: { provider: name, code: 'ECONNREFUSED' },
    });
  });

  it('never logs the key or a signed link, and shows the client no text of the upstream', async () => {
    const said = `key ${stub.key} https://a.example/x?signature=abc data:image/png;base64,AAAA ${'x'.repeat(900)}`;
    stub.plan(submit, { reply: { status: 400, body: { detail: said, error: { message: said } } } });
    const failure = await failureOf(provider.prepare(film).generate(run));
    const { message } = failure.cause as { message: string };
    expect(message).toContain('key [key] https://a.example/x?… data:…');
    expect(message.length).toBeLessThanOrEqual(500);
    expect(failure.message).toBe('The provider did not accept this request.');
  });

  it('recognises a refusal whose fields have unexpected types', async () => {
    const odd = { of: ['an', 'unheard', 'of', 'kind'] };
    const body = {
      detail: [{ type: odd, msg: odd }],
      title: odd,
      error: { code: odd, type: odd, param: odd, message: odd },
    };
    stub.plan(submit, { reply: { status: 400, body } });
    const failure = await failureOf(provider.prepare(film).generate(run));
    expect(failure).toMatchObject({
      code: 'provider_rejected',
      billing: 'none',
      cause: { provider: name, status: 400 },
    });
  });

  describe('polling', () => {
    it('retries broken connections, 408, 409, 425, 429, 5xx, HTML pages and two 404', async () => {
      const passing = [404, 404, 500, 404, 404, 429, 408, 409, 425, 503].map(refused);
      stub.plan(read, ...passing, { cut: 'before' }, { cut: 'midway' }, { reply: { status: 200, body: '<html>' } });
      expect(await ground.made(film)).toHaveLength(1);
      expect(stub.submits).toBe(1);
    });

    it.each([
      [404, 'internal_error'],
      [401, 'provider_rejected'],
      [403, 'provider_rejected'],
      [400, 'internal_error'],
    ])('fails at the third %d in a row with %s', async (status, code) => {
      stub.plan(read, refused(status), refused(status), refused(status));
      const failure = await failureOf(provider.prepare(film).generate(run));
      expect(failure).toMatchObject({ code, billing: 'charged', cause: { provider: name, status } });
      expect([stub.submits, stub.count(read)]).toEqual([1, 3]);
    });
  });

  it('retries the download without another job', async () => {
    stub.plan(fetch, refused(503), { cut: 'before' }, { cut: 'midway' }, refused(404));
    const pauses = skipPauses((ms) => ms === 1_000);
    expect(await ground.made(film)).toHaveLength(1);
    expect([stub.submits, stub.count(fetch), pauses.length]).toEqual([1, 5, 1]);
  });

  describe('a cancel', () => {
    const { signal } = new AbortController();
    /** A job that the upstream accepted. */
    const accepted = async () => {
      await ground.made(film);
      return jobs()[0]!;
    };

    it('that is refused is a failure, without the key in its cause', async () => {
      const id = await accepted();
      stub.plan(cancel, { reply: { status: 403, body: `not with ${stub.key}` } });
      const failure = await failureOf(provider.cancel!(film, id, signal));
      expect(failure.cause).toEqual({
        provider: name,
        status: 403,
        code: 'unexpected_answer',
        message: 'not with [key]',
      });
      expect(stub.count(cancel)).toBe(1);
    });

    it.each([404, 409])('of a job that has ended (%d) is not', async (status) => {
      const id = await accepted();
      stub.plan(cancel, refused(status));
      await provider.cancel!(film, id, signal);
      expect(stub.count(cancel)).toBe(1);
    });

    it('is repeated after a failure that may pass, three times in all', async () => {
      const id = await accepted();
      const pauses = skipPauses((ms) => ms === 250 || ms === 500);
      stub.plan(cancel, refused(503), { cut: 'before' }, { reply: { status: 200, body: {} } });
      await provider.cancel!(film, id, signal);
      expect([stub.count(cancel), pauses]).toEqual([3, [250, 500]]);
      stub.plan(cancel, refused(503), refused(503), refused(503), refused(503));
      expect(await failureOf(provider.cancel!(film, id, signal))).toMatchObject({ cause: { status: 503 } });
      expect(stub.count(cancel)).toBe(6);
    });
  });

  describe('stopping', () => {
    afterEach(() => jest.useRealTimers());

    it.each([
      ['the paid call is under way', submit],
      ['it polls', read],
      ['it downloads', fetch],
    ])('settles while %s, with the reason', async (_when, pattern) => {
      stopClock(); // so that no time-out ends the call
      stub.plan(pattern, 'hang');
      const going = failureOf(provider.prepare(film).generate(run));
      await eventually('the call', async () => {
        await jest.advanceTimersByTimeAsync(10);
        return stub.count(pattern) === 1;
      });
      run.stop('deadline');
      await jest.advanceTimersByTimeAsync(1_000); // a paid call may be answered meanwhile
      expect(await going).toBe('deadline');
    });

    it('by a user during the paid call still cancels the job of that call', async () => {
      const answered = Promise.withResolvers<void>();
      stub.plan(submit, { restAfter: answered.promise });
      const going = failureOf(provider.prepare(film).generate(run));
      await until(() => stub.halves === 1);
      run.stop('ended');
      answered.resolve();
      expect(await going).toBe('ended');
      await until(() => stub.count(cancel) === 1);
      expect(run.calls).toEqual(['submitting']);
    });

    it('by a shutdown during the paid call records the job for the next claim', async () => {
      const answered = Promise.withResolvers<void>();
      stub.plan(submit, { restAfter: answered.promise });
      const going = failureOf(provider.prepare(film).generate(run));
      await until(() => stub.halves === 1);
      run.stop('shutdown');
      answered.resolve();
      expect(await going).toBe('shutdown');
      await until(() => jobs().length === 1);
      expect(stub.count(cancel)).toBe(0);
    });

    it('before the start sends nothing', async () => {
      run.stop('deadline');
      expect(await failureOf(provider.prepare(film).generate(run))).toBe('deadline');
      expect(stub.requests).toEqual([]);
    });
  });
});
