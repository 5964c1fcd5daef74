import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import sharp from 'sharp';
import { paint } from '../../../test/support/stubs/media.ts';
import { failureOf, inputImage, RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { type Reply, StubHttp, type StubRequest } from '../../../test/support/stubs/stub-http.ts';
import { eventually } from '../../../test/support/wait.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import { findModel } from '../../models/catalog.ts';
import { prepareRequest } from '../contract/prepare-request.ts';
import type { Provider, ProviderOutput, ProviderRequest } from '../contract/provider.ts';
import { httpCalls, httpJobs, httpJobsWithLookup } from './http.provider.ts';

/** A vendor with jobs at /jobs, and pictures at once at /now. */
class VendorStub extends StubHttp {
  readonly jobs = new Map<string, { polls: number; ref: unknown }>();
  failure: object | null = null;
  percent = 0.4;
  picture = (): Promise<Buffer> => paint(64, 64, 5);
  link = (at: number): string => `/files/${at}.png`;
  links = 1;
  elsewhere = '';
  jobId = (nth: number): string => `job/${nth}`;

  protected async answer({ method, path, fields, query }: StubRequest): Promise<Reply> {
    const [, file] = /^\/v1\/files\/(.*)$/.exec(path) ?? /^\/files\/(.*)$/.exec(path) ?? [];
    if (file === 'moved') return { status: 302, headers: { location: this.elsewhere }, body: '' };
    if (file) return { status: 200, body: await paint(64, 64, 3) };
    if (path === '/v1/now')
      return { status: 200, body: { data: [{ b64: (await this.picture()).toString('base64') }] } };
    if (method === 'POST' && path === '/v1/jobs') {
      const id = this.jobId(this.jobs.size + 1);
      this.jobs.set(id, { polls: 0, ref: fields.ref });
      return { status: 201, body: { job: { id } } };
    }
    if (path === '/v1/jobs') {
      const found = [...this.jobs].filter(([, { ref }]) => ref === query.ref).map(([id]) => ({ id }));
      return { status: 200, body: { items: found } };
    }
    const [, encoded = '', act] = /^\/v1\/jobs\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
    const job = this.jobs.get(decodeURIComponent(encoded));
    if (!job) return { status: 404, body: {} };
    if (act) return { status: 200, body: { state: 'cancelled' } };
    if (this.failure) return { status: 200, body: { state: 'failed', ...this.failure } };
    job.polls += 1;
    if (job.polls < 2) return { status: 200, body: { state: 'working', percent: this.percent } };
    return {
      status: 200,
      body: { state: 'ready', files: Array.from({ length: this.links }, (_, at) => ({ url: this.link(at + 1) })) },
    };
  }

  protected override keyOf(headers: IncomingMessage['headers']): string | undefined {
    return headers['x-api-key'] as string | undefined;
  }

  protected override isSubmit({ method, path }: StubRequest): boolean {
    return method === 'POST' && path === '/v1/jobs';
  }
}

const BINDING: DeclaredBinding = {
  provider: 'http',
  auth: 'X-Api-Key: {{key}}',
  map: { aspect_ratio: { '16:9': 'landscape' } },
  submit: {
    path: '/jobs',
    json: { text: '{{prompt}}', shape: '{{aspect_ratio}}', seed: '{{seed}}', ref: '{{task_id}}', image: '{{mask}}' },
    id: '$.job.id',
  },
  poll: {
    path: '/jobs/{{job_id}}',
    status: '$.state',
    done: ['ready'],
    failed: ['failed'],
    progress: '$.percent',
  },
  outputs: '$.files[*].url',
  error: '$.problem',
  errors: { policy: ['unsafe'], quota: ['no_credit'], busy: ['slow_down'] },
  cancel: { path: '/jobs/{{job_id}}/cancel', cancelled: ['cancelled'] },
  lookup: { path: '/jobs?ref={{task_id}}', id: '$.items[0].id', certain: true },
};

let stub: VendorStub;
let run: RecordedRun;
let base: ProviderRequest;

beforeEach(async () => {
  stub = await new VendorStub().start();
  run = new RecordedRun();
  base = {
    taskId: 'task_01jd0000000000000000000000',
    model: 'gpt-image-2',
    definition: findModel('gpt-image-2')!,
    kind: 'image',
    input: { prompt: 'a fox', aspect_ratio: '16:9', resolution: '1K', n: 1, seed: 7 },
    images: { references: [], firstFrame: null },
    upstream: {
      model: '',
      baseUrl: `${stub.origin}/v1`,
      apiKey: stub.key,
      durationPolicy: 'exact',
      pollIntervalMs: 5,
      declared: BINDING,
    },
  };
});

afterEach(async () => {
  run.close();
  await stub.stop();
});

const bound = (more: Partial<DeclaredBinding>) => requestFor(base, { upstream: { declared: { ...BINDING, ...more } } });
const made = (provider: Provider, request: ProviderRequest) => provider.prepare(request).generate(run);
const bytesOf = (output: ProviderOutput) => (Buffer.isBuffer(output) ? output : readFileSync(output.path));

it('submits in the words of the declaration, polls and fetches', async () => {
  const [output] = await made(httpJobs, base);
  expect(bytesOf(output!).subarray(1, 4).toString()).toBe('PNG');
  const [submit] = stub.requests;
  expect([submit!.method, submit!.path, submit!.key]).toEqual(['POST', '/v1/jobs', 'right']);
  expect(submit!.fields).toEqual({ text: 'a fox', shape: 'landscape', seed: 7, ref: base.taskId });
  expect([run.calls, run.checks]).toEqual([['submitting', 'submitted job/1'], 2]);
  expect(run.percents).toContain(40);
  expect(run.sentSeeds).toEqual([7]);
});

it('counts a derived seed on in each call', async () => {
  const { seed: _given, ...input } = base.input;
  await made(httpJobs, { ...base, input: { ...input, n: 2 } });
  const sent = stub.requests.filter(({ method }) => method === 'POST').map(({ fields }) => fields.seed as number);
  expect(sent[1]).toBe(sent[0]! + 1);
  expect(run.sentSeeds).toEqual(sent);
});

it('takes 1 for the first percent', async () => {
  stub.percent = 1;
  await made(httpJobs, base);
  expect(run.percents).toContain(1);
  expect(run.percents).not.toContain(100);
});

it('sends an image where its slot is, and no field where there is none', async () => {
  const mask = await inputImage(8, 8);
  await made(httpJobs, { ...base, images: { references: [], firstFrame: null, mask } });
  expect(stub.requests[0]!.fields.image).toMatch(/^data:image\/png;base64,/);
});

it.each([
  [{ problem: 'unsafe' }, 'content_policy_violation'],
  [{ problem: 'no_credit' }, 'provider_quota_exceeded'],
  [{ problem: 'slow_down' }, 'provider_unavailable'],
  [{ problem: 'other' }, 'internal_error'],
  [{}, 'internal_error'],
])('a job that failed with %j is %s', async (failure, code) => {
  stub.failure = failure;
  expect(await failureOf(made(httpJobs, base))).toMatchObject({ code });
});

it.each([
  [422, 'provider_rejected', 'none'],
  [401, 'provider_rejected', 'none'],
  [402, 'provider_quota_exceeded', 'none'],
  [429, 'provider_unavailable', 'none'],
  [409, 'provider_outcome_unknown', 'unknown'],
  [500, 'provider_outcome_unknown', 'unknown'],
])('a submit that is answered with %i is %s and costs %s', async (status, code, billing) => {
  stub.plan(/POST \/v1\/jobs/, { reply: { status, body: {} } });
  expect(await failureOf(made(httpJobs, base))).toMatchObject({ code, billing });
});

it('looks up a job whose submit got no answer, so that it is bought once', async () => {
  stub.plan(/POST \/v1\/jobs/, { cut: 'after' });
  expect(await made(httpJobsWithLookup, base)).toHaveLength(1);
  expect(stub.count(/POST \/v1\/jobs$/)).toBe(1);
  expect(run.calls).toEqual(['submitting', 'submitted job/1']);
});

it('submits again what three lookups after a cut submit have missed, where the lookup is certain', async () => {
  stub.plan(/POST \/v1\/jobs/, { cut: 'before' });
  const failure = await failureOf(made(httpJobsWithLookup, base));
  expect(failure).toMatchObject({ code: 'provider_unavailable', billing: 'none' });
  expect(stub.count(/GET \/v1\/jobs$/)).toBe(3);
  stub.plan(/POST \/v1\/jobs/, { cut: 'before' });
  expect(await failureOf(made(httpJobsWithLookup, base))).toMatchObject({ code: 'provider_outcome_unknown' }); // the last attempt
  stub.plan(/POST \/v1\/jobs/, { cut: 'before' });
  const unsure = bound({ lookup: { ...BINDING.lookup!, certain: false } });
  expect(await failureOf(made(httpJobsWithLookup, unsure))).toMatchObject({ code: 'provider_outcome_unknown' });
});

describe('after a crash', () => {
  const found = (request = base) => httpJobsWithLookup.find!(request, new AbortController().signal, 0);
  const answered = (status: number, body: object | string) => ({ reply: { status, body } });
  const LOOKUP = /GET \/v1\/jobs$/;

  it('a lookup that is certain says that there is no job once it was missing three times', async () => {
    expect(await found()).toBeNull();
    expect(stub.count(LOOKUP)).toBe(3);
    const unsure = bound({ lookup: { ...BINDING.lookup!, certain: false } });
    await expect(found(unsure)).rejects.toMatchObject({ code: 'provider_outcome_unknown' });
  });

  it('a job that the list shows late is found', async () => {
    stub.jobs.set('job/7', { polls: 0, ref: base.taskId });
    stub.plan(LOOKUP, answered(200, { items: [] }), answered(200, { items: [] }));
    expect(await found()).toBe('job/7');
  });

  it.each([
    [503, {}, 'provider_unavailable'],
    [429, {}, 'provider_unavailable'],
    [404, {}, 'provider_outcome_unknown'],
    [200, '<html>', 'provider_outcome_unknown'],
    [200, { items: [{ id: 'a b' }] }, 'provider_outcome_unknown'],
  ])('a lookup that is answered with %i %j is %s, and buys nothing', async (status, body, code) => {
    stub.plan(LOOKUP, answered(status, body));
    await expect(found()).rejects.toMatchObject({ code, billing: 'unknown' });
  });
});

it('looks up the first job only: the others of the task would be taken for it', async () => {
  stub.plan(/POST \/v1\/jobs/, { delayMs: 0 }, { cut: 'after' });
  const failure = await failureOf(made(httpJobsWithLookup, requestFor(base, { input: { n: 2 } })));
  expect(failure).toMatchObject({ code: 'provider_outcome_unknown', billing: 'unknown' });
  expect(stub.count(/GET \/v1\/jobs$/)).toBe(0);
  await eventually('the first job to be cancelled', async () =>
    stub.answers.some(({ request }) => request.path === '/v1/jobs/job%2F1/cancel'),
  );
});

it.each([
  [['cancelled'], true],
  [['refunded'], undefined],
])('cancels, and takes %j in the answer to mean that it costs nothing: %s', async (cancelled, confirmed) => {
  stub.jobs.set('job/9', { polls: 0, ref: '' });
  const request = bound({ cancel: { ...BINDING.cancel!, cancelled } });
  expect(await httpJobs.cancel!(request, 'job/9', new AbortController().signal)).toBe(confirmed);
  expect(stub.count(/POST \/v1\/jobs\/job%2F9\/cancel/)).toBe(1);
});

it('takes links of its own origin and of the hosts that are named, and no others', async () => {
  stub.link = () => 'https://files.other.example/1.png';
  expect(await failureOf(made(httpJobs, base))).toMatchObject({ code: 'internal_error' });
});

it.each([
  ['files.other.example', 'https://files.other.example/1.png'],
  ['another port of its own', 'http://127.0.0.1:1/1.png'],
  ['no host', 'http://['],
])('follows no redirect to %s', async (_, elsewhere) => {
  stub.elsewhere = elsewhere;
  stub.link = () => '/files/moved';
  expect(await failureOf(made(httpJobs, base))).toMatchObject({ code: 'internal_error' });
  stub.elsewhere = '/files/1.png';
  expect(await made(httpJobs, base)).toHaveLength(1);
});

it('downloads no more files than were asked for, however many an answer lists', async () => {
  stub.links = 50;
  expect(await made(httpJobs, base)).toHaveLength(1);
  expect(stub.count(/GET \/files\//)).toBe(1);
});

it.each(['..', '.', 'a,b', 'a b', '?', 'x'.repeat(300), ''])(
  'takes no id %j of a job, which may have been bought all the same',
  async (id) => {
    stub.jobId = () => id;
    expect(await failureOf(made(httpJobs, base))).toMatchObject({
      code: 'provider_outcome_unknown',
      billing: 'unknown',
    });
  },
);

it('may answer the submit with the result itself', async () => {
  const outputs = await made(httpCalls, atOnce());
  expect(run.checks).toBe(2 * 2); // two calls
  expect(outputs.map((output) => bytesOf(output).subarray(1, 4).toString())).toEqual(['PNG', 'PNG']);
  expect(stub.requests).toHaveLength(2);
});

it('reads a JPEG in base64, which begins with a slash, as a picture', async () => {
  stub.picture = async () =>
    sharp(await paint(64, 64, 5))
      .jpeg()
      .toBuffer();
  const outputs = await made(httpCalls, atOnce());
  expect(outputs.map((output) => bytesOf(output).subarray(0, 2).toString('hex'))).toEqual(['ffd8', 'ffd8']);
});

it.each([
  ['the answer to the submit', httpCalls, atOnce],
  ['the status of a job', httpJobs, () => base],
])('takes large pictures in base64 from %s', async (_, provider, requestOf) => {
  const large = Buffer.concat([await paint(64, 64, 5), Buffer.alloc(7_000_000)]);
  stub.picture = async () => large;
  stub.link = () => `data:image/png;base64,${large.toString('base64')}`;
  const [output] = await made(provider, requestOf());
  expect(bytesOf(output!)).toHaveLength(large.length);
});

/** Two pictures of two calls, each of which answers with its own. */
function atOnce(): ProviderRequest {
  const { poll: _poll, cancel: _cancel, lookup: _lookup, ...now } = BINDING;
  const declared = {
    ...now,
    submit: { path: '/now', json: { text: '{{prompt}}' } },
    outputs: '$.data[*].b64',
    max_n: 1,
  };
  return requestFor(base, { input: { n: 2 }, upstream: { declared } });
}

it('lets no value of a client choose another path or another header', async () => {
  const paths = (prompt: string) => () =>
    httpJobs
      .prepare(requestFor(bound({ submit: { path: '/x/{{prompt}}', id: '$.job.id' } }), { input: { prompt } }))
      .generate(run);
  expect(paths('..')).toThrow(expect.objectContaining({ param: 'prompt' }) as Error);
  await expect(paths('../../admin?x=1#y')()).rejects.toMatchObject({ code: 'provider_rejected' });
  expect(stub.requests.at(-1)!.path).toBe('/v1/x/..%2F..%2Fadmin%3Fx%3D1%23y');
});

it.each(['a fox 🦊', 'une forêt', 'two\nlines', 'x\r\nX-Evil: 1', 'a\u0001b'])(
  'refuses %j before anything is sent, where it would be a header',
  (prompt) => {
    const submit = { ...BINDING.submit!, headers: { 'x-title': 'about {{prompt}}' } };
    expect(() => httpJobs.prepare(requestFor(bound({ submit }), { input: { prompt } }))).toThrow(
      expect.objectContaining({ name: 'UnsupportedRequest' }),
    );
  },
);

it('refuses before anything is bought what a later call cannot hold or has no word for', () => {
  const poll = { ...BINDING.poll!, path: '/jobs/{{job_id}}/{{prompt}}' };
  const cancel = { ...BINDING.cancel!, json: { shape: '{{aspect_ratio}}' } };
  const submit = { ...BINDING.submit!, json: {} };
  const refused = expect.objectContaining({ name: 'UnsupportedRequest' }) as Error;
  expect(() => httpJobs.prepare(requestFor(bound({ poll }), { input: { prompt: '..' } }))).toThrow(refused);
  const other = requestFor(bound({ submit, cancel }), { input: { aspect_ratio: '1:1' } });
  expect(() => httpJobs.prepare(other)).toThrow(refused);
});

it.each([
  ['white', 0],
  ['alpha', 255],
] as const)('sends a mask as the binding wants it: %s', async (form, value) => {
  const mask = await inputImage(8, 8);
  const black = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#000' } })
    .png()
    .toBuffer();
  writeFileSync(mask.path, black);
  const submit = { path: '/jobs', form: { text: '{{prompt}}', image: '{{mask:file}}' }, id: '$.job.id' };
  await made(httpJobs, { ...bound({ submit, mask: form }), images: { references: [], firstFrame: null, mask } });
  const { data, info } = await sharp(stub.requests[0]!.files[0]!.bytes).raw().toBuffer({ resolveWithObject: true });
  expect([info.channels, data[info.channels - 1]]).toEqual([form === 'alpha' ? 4 : 3, value]);
});

it('sends a link of ours to an image, to each one, and never the URL of the client', async () => {
  const [one, two] = [await inputImage(8, 8), await inputImage(9, 9)];
  const submit = {
    path: '/jobs',
    json: {
      text: '{{prompt}}',
      images: '{{reference_images:url}}',
      first: '{{reference_images}}',
      hole: '{{mask:url}}',
    },
    id: '$.job.id',
  };
  const images = { references: [one, two], firstFrame: null };
  await made(httpJobs, { ...bound({ submit }), images });
  const { fields } = stub.requests[0]!;
  expect(fields).toMatchObject({ images: [1, 2].map((nth) => `https://darkroom.example/image-${nth}`) });
  expect(fields.first).toEqual([1, 2].map(() => expect.stringMatching(/^data:image\/png;base64,/)));
  expect(fields).not.toHaveProperty('hole');
  expect(run.linked.map(({ path }) => path)).toEqual([one.path, two.path]);
});

it('links to the mask as the binding wants it', async () => {
  const mask = await inputImage(8, 8);
  const submit = { path: '/jobs', json: { image: '{{mask:url}}' }, id: '$.job.id' };
  await made(httpJobs, { ...bound({ submit, mask: 'alpha' }), images: { references: [], firstFrame: null, mask } });
  const { channels } = await sharp(run.linked[0]!.path).metadata();
  expect([stub.requests[0]!.fields, channels]).toEqual([{ image: 'https://darkroom.example/image-1' }, 4]);
});

it('sends an image as a file of a form', async () => {
  const mask = await inputImage(8, 8);
  const submit = { path: '/jobs', form: { text: '{{prompt}}', image: '{{mask:file}}' }, id: '$.job.id' };
  await made(httpJobs, { ...bound({ submit }), images: { references: [], firstFrame: null, mask } });
  expect(stub.requests[0]!.files.map(({ field, type }) => [field, type])).toEqual([['image', 'image/png']]);
});

it('does not go to a server without a word for a value', () => {
  expect(() => prepareRequest(httpJobs, requestFor(base, { input: { aspect_ratio: '1:1' } }))).toThrow(
    expect.objectContaining({ name: 'UnsupportedRequest' }),
  );
});
