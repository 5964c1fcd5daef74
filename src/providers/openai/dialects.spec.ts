import sharp from 'sharp';
import { failureOf, imageFile, inputImage, RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { PicturesStub } from '../../../test/support/stubs/pictures.stub.ts';
import { SdServerStub } from '../../../test/support/stubs/sd-server.stub.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import { prepareRequest } from '../contract/prepare-request.ts';
import { seedOf } from '../contract/seed.ts';
import { type InputImage, type ProviderRequest, type ResolvedInput, UnsupportedRequest } from '../contract/provider.ts';
import { openaiProvider } from './openai.provider.ts';
import { sdServer } from './sd-server.ts';

const provider = openaiProvider;
const SERVERS = ['openai', 'litellm', 'vllm-omni', 'sglang', 'sd-server', 'localai', 'xinference'] as const;
type Server = (typeof SERVERS)[number];
const stubs = {} as Record<Server, PicturesStub | SdServerStub>;
beforeAll(async () => {
  for (const server of SERVERS) {
    if (server === 'sd-server') continue;
    stubs[server] = await new PicturesStub(server).start();
  }
  stubs['sd-server'] = await new SdServerStub().start();
});
afterAll(() => Promise.all(Object.values(stubs).map((stub) => stub.stop())));

const TASK = 'task_01jd0000000000000000000000';
const SEED = seedOf(TASK);
let reference: InputImage;
let mask: InputImage;
beforeAll(async () => {
  reference = await inputImage(64, 64);
  const bytes = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#fff' } })
    .extractChannel(0)
    .png()
    .toBuffer();
  mask = imageFile(bytes, { contentType: 'image/png', width: 64, height: 64 });
});

function ask(
  server: Server,
  input: Partial<ResolvedInput>,
  images: Partial<ProviderRequest['images']> = {},
): ProviderRequest {
  const stub = stubs[server];
  const declared: DeclaredBinding = { provider: 'openai', dialect: server, model: 'served' };
  return requestFor({
    taskId: TASK,
    model: 'mine',
    kind: 'image',
    input: { prompt: 'a fox', size: '64x64', ...input } as ResolvedInput,
    images: { references: [], firstFrame: null, ...images },
    upstream: {
      model: 'served',
      baseUrl: stub.baseUrl,
      apiKey: stub.key,
      durationPolicy: 'exact',
      pollIntervalMs: 1,
      declared,
    },
  });
}

/** What the server got, and how many pictures came. */
async function made(server: Server, request: ProviderRequest) {
  const before = stubs[server].requests.length;
  const prepared = prepareRequest(server === 'sd-server' ? sdServer : provider, request);
  const run = new RecordedRun();
  const outputs = await prepared.generate(run);
  const requests = stubs[server].requests.slice(before).filter(({ path }) => !path.includes('/jobs/'));
  const [{ fields, files, path }] = requests as [(typeof requests)[number]];
  const { sentSeeds: seeds } = run;
  return { fields, files, path, count: outputs.length, requests, seeds, approximations: prepared.approximations };
}

const BASIC = { model: 'served', prompt: 'a fox', n: 1, size: '64x64' };

it.each([
  ['vllm-omni', {}, { ...BASIC, seed: SEED }],
  ['vllm-omni', { seed: 7, negative_prompt: 'blur' }, { ...BASIC, seed: 7, negative_prompt: 'blur' }],
  ['sglang', { seed: 7 }, { ...BASIC, seed: 7, response_format: 'b64_json' }],
  ['localai', { seed: 7, prompt: 'a | b' }, { ...BASIC, prompt: 'a ｜ b', seed: 7, response_format: 'b64_json' }],
  ['localai', { negative_prompt: 'x|y' }, { ...BASIC, prompt: 'a fox|x｜y', seed: SEED, response_format: 'b64_json' }],
  [
    'xinference',
    { seed: 7, negative_prompt: 'blur' },
    { ...BASIC, response_format: 'b64_json', kwargs: '{"seed":7,"negative_prompt":"blur"}' },
  ],
] as const)('sends %s for %j its own words', async (server, input, body) => {
  const { fields, path, count } = await made(server, ask(server, input));
  expect([path, fields, count]).toEqual(['/v1/images/generations', body, 1]);
});

it('sends several references, to LocalAI as base64 alone, and records the seeds that are sent', async () => {
  const sglang = await made('sglang', ask('sglang', {}, { references: [reference, reference] }));
  expect(sglang.files.map(({ field }) => field)).toEqual(['image[]', 'image[]']);
  const local = await made('localai', ask('localai', {}, { references: [reference] }));
  expect(local.fields.ref_images).toEqual([expect.stringMatching(/^iVBOR/)]);
  const xinference = await made('xinference', ask('xinference', {}, { references: [reference] }));
  expect(xinference.fields).not.toHaveProperty('kwargs');
  expect([sglang.seeds, xinference.seeds]).toEqual([[SEED], null]);
});

it('asks LocalAI for one picture a call, each with a seed of its own', async () => {
  const { requests, count, seeds } = await made('localai', ask('localai', { n: 3, seed: 5 }));
  expect(seeds).toEqual([5, 6, 7]);
  expect([count, requests.map(({ fields }) => [fields.n, fields.seed])]).toEqual([
    3,
    [
      [1, 5],
      [1, 6],
      [1, 7],
    ],
  ]);
  const derived = await made('localai', ask('localai', { n: 2 }));
  expect(derived.requests.map(({ fields }) => fields.seed)).toEqual([SEED, SEED + 1]);
  expect(derived.seeds).toEqual([SEED, SEED + 1]);
});

it('records what it writes in another way', async () => {
  const input = { prompt: 'a | b', negative_prompt: 'x|y' };
  const { approximations } = await made('localai', ask('localai', input));
  expect(approximations).toEqual([
    { param: 'prompt', requested: '|', used: '｜' },
    { param: 'negative_prompt', requested: '|', used: '｜' },
  ]);
});

it('does not go to Xinference with what it would drop beside a reference', () => {
  const prepare =
    (input: Partial<ResolvedInput>, references = [reference]) =>
    () =>
      provider.prepare(ask('xinference', input, { references }));
  expect(prepare({ seed: 7 })).toThrow(expect.objectContaining({ param: 'seed' }));
  expect(prepare({}, [reference, reference])).toThrow(expect.objectContaining({ param: 'reference_images' }));
  expect(prepare({ negative_prompt: '' })).not.toThrow();
});

it("reads a server's refusal", async () => {
  const request = ask('vllm-omni', {});
  const other = { ...request, upstream: { ...request.upstream, model: 'another' } };
  expect(await failureOf(provider.prepare(other).generate(new RecordedRun()))).toMatchObject({
    code: 'provider_rejected',
  });
});

describe('of what servers differ in', () => {
  const GENERATIONS = '/v1/images/generations';
  const EDITS = '/v1/images/edits';
  const NATIVE = '/sdcpp/v1/img_gen';
  const NONE = 'none';
  /** What is sent, or the parameter for which the server is passed over. */
  type Seen = (sent: Awaited<ReturnType<typeof made>>) => unknown;

  /** The fields of pictures that are sent along, without those of another row. */
  const imagesSent: Seen = ({ fields, files, path }) => [
    path,
    ...files.map(({ field }) => field).toSorted(),
    ...['ref_images', 'init_image', 'mask_image'].filter((name) => name in fields),
  ];
  const own =
    (...names: string[]): Seen =>
    ({ fields }) =>
      names.map((name) => fields[name]);
  const kwargs = (fields: object) => JSON.stringify(fields);
  const one = { reference_images: ['https://a/1'] };
  const masked = { ...one, mask: 'https://a/2' };

  it.each<[row: string, input: Partial<ResolvedInput>, seen: Seen, of: unknown[]]>([
    [
      'the route',
      {},
      ({ path }) => path,
      [GENERATIONS, GENERATIONS, GENERATIONS, GENERATIONS, NATIVE, GENERATIONS, GENERATIONS],
    ],
    [
      'response_format',
      {},
      ({ fields }) => fields.response_format,
      [undefined, undefined, undefined, 'b64_json', undefined, 'b64_json', 'b64_json'],
    ],
    [
      'the pictures of a call',
      { n: 10 },
      ({ requests }) => requests.map(({ fields }) => fields.n ?? fields.batch_count),
      [[10], [10], [10], [10], [8, 2], Array.from({ length: 10 }, () => 1), [10]],
    ],
    [
      'the size',
      { size: '64x96' },
      own('size', 'width', 'height'),
      SERVERS.map((server) => (server === 'sd-server' ? [undefined, 64, 96] : ['64x96', undefined, undefined])),
    ],
    [
      'a reference',
      one,
      imagesSent,
      [
        [EDITS, 'image[]'],
        [EDITS, 'image[]'],
        [EDITS, 'image[]'],
        [EDITS, 'image[]'],
        [NATIVE, 'ref_images', 'init_image'],
        [GENERATIONS, 'ref_images'],
        [EDITS, 'image'],
      ],
    ],
    [
      'a mask',
      masked,
      imagesSent,
      [
        [EDITS, 'image[]', 'mask'],
        [EDITS, 'image[]', 'mask'],
        [EDITS, 'image[]', 'mask_image'],
        NONE,
        [NATIVE, 'ref_images', 'init_image', 'mask_image'],
        NONE,
        [EDITS, 'image', 'mask'],
      ],
    ],
    [
      'a seed',
      { seed: 7 },
      own('seed', 'kwargs'),
      [NONE, NONE, [7, undefined], [7, undefined], [7, undefined], [7, undefined], [undefined, kwargs({ seed: 7 })]],
    ],
    [
      'a seed with a reference',
      { ...one, seed: 7 },
      ({ fields }) => String(fields.seed),
      [NONE, NONE, '7', '7', '7', '7', NONE],
    ],
    [
      'the seed of a request without one',
      {},
      own('seed', 'kwargs'),
      [
        [undefined, undefined],
        [undefined, undefined],
        [SEED, undefined],
        [SEED, undefined],
        [SEED, undefined],
        [SEED, undefined],
        [undefined, kwargs({ seed: SEED })],
      ],
    ],
    [
      'a negative prompt',
      { negative_prompt: 'blur' },
      own('prompt', 'negative_prompt', 'kwargs'),
      [
        NONE,
        NONE,
        ['a fox', 'blur', undefined],
        ['a fox', 'blur', undefined],
        ['a fox', 'blur', undefined],
        ['a fox|blur', undefined, undefined],
        ['a fox', undefined, kwargs({ seed: SEED, negative_prompt: 'blur' })],
      ],
    ],
    [
      'a negative prompt with a reference',
      { ...one, negative_prompt: 'blur' },
      own('prompt', 'negative_prompt'),
      [NONE, NONE, ['a fox', 'blur'], ['a fox', 'blur'], ['a fox', 'blur'], ['a fox|blur', undefined], NONE],
    ],
    [
      'a strength',
      { ...one, strength: 0.4 },
      ({ fields }) => String(fields.strength),
      [NONE, NONE, '0.4', NONE, '0.4', NONE, NONE],
    ],
    [
      'a transparent background',
      { background: 'transparent' },
      own('background', 'output_format'),
      SERVERS.map((server) => (server === 'openai' || server === 'litellm' ? ['transparent', 'png'] : NONE)),
    ],
    [
      'the quality, which only GPT models have',
      { quality: 'high' },
      ({ fields, approximations }) => [fields.quality, approximations],
      SERVERS.map(() => [undefined, [{ param: 'quality', requested: 'high', used: 'auto' }]]),
    ],
  ])('%s', async (_row, input, seen, expected) => {
    const images = {
      references: input.reference_images ? [reference] : [],
      ...(input.mask !== undefined && { mask }),
    };
    const all = [];
    for (const server of SERVERS) {
      try {
        all.push([server, seen(await made(server, ask(server, input, images)))]);
      } catch (error) {
        if (!(error instanceof UnsupportedRequest)) throw error;
        expect(input).toHaveProperty(error.param);
        all.push([server, NONE]);
      }
    }
    expect(all).toEqual(SERVERS.map((server, at) => [server, expected[at]]));
  });

  it.each([
    ['openai', 'mask', 4, 0],
    ['litellm', 'mask', 4, 0],
    ['vllm-omni', 'mask_image', 3, 255],
    ['xinference', 'mask', 3, 255],
    ['sd-server', 'mask_image', 3, 255],
  ] as const)('the mask at %s: its field, its channels, and the last of them where it changes', async (...row) => {
    const [server, name, channels, last] = row;
    const { fields, files } = await made(server, ask(server, masked, { references: [reference], mask }));
    const file = files.find(({ field }) => field === name)?.bytes ?? Buffer.from(String(fields[name]), 'base64');
    const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true });
    expect([info.channels, data[info.channels - 1]]).toEqual([channels, last]);
  });

  it('no call makes more pictures than the binding says, and each has the seed and the index of its first', async () => {
    for (const server of ['vllm-omni', 'sd-server', 'localai'] as const) {
      const request = ask(server, { n: 3 });
      const more = { max_n: server === 'localai' ? 10 : 2, send: { at: '{{index}}', again: '{{seed}}' } };
      const declared = { ...request.upstream.declared!, ...more };
      const { requests } = await made(server, { ...request, upstream: { ...request.upstream, declared } });
      const sent = requests.map(({ fields }) => [fields.n ?? fields.batch_count, fields.seed, fields.at, fields.again]);
      const firsts = server === 'localai' ? [0, 1, 2] : [0, 2];
      const counts = server === 'localai' ? [1, 1, 1] : [2, 1];
      expect(sent).toEqual(firsts.map((first, at) => [counts[at], SEED + first, first, SEED + first]));
    }
  });

  it.each([429, 400, 402])('a later call that is refused with %i costs what the calls before did', async (status) => {
    for (const server of ['openai', 'vllm-omni'] as const) {
      const request = ask(server, { n: 3 });
      const declared = { ...request.upstream.declared!, max_n: 2 };
      const refused = stubs[server].count(/POST/) + 1;
      stubs[server].plan(/POST/, { delayMs: 0 }, { reply: { status, body: { error: { message: 'no' } } } });
      const failed = failureOf(made(server, { ...request, upstream: { ...request.upstream, declared } }));
      expect(await failed).toMatchObject({ billing: 'charged' });
      expect(stubs[server].count(/POST/)).toBe(refused + 1);
    }
  });

  it.each([
    ['vllm-omni', 400, 'provider_rejected', 'none'],
    ['vllm-omni', 422, 'provider_rejected', 'none'],
    ['vllm-omni', 500, 'provider_outcome_unknown', 'unknown'],
    ['sglang', 400, 'provider_rejected', 'none'],
    ['xinference', 400, 'provider_rejected', 'none'],
    ['xinference', 409, 'provider_unavailable', 'none'],
    ['xinference', 503, 'provider_unavailable', 'none'],
    ['sd-server', 429, 'provider_unavailable', 'none'],
    ['sd-server', 400, 'provider_rejected', 'none'],
    ['sd-server', 500, 'provider_outcome_unknown', 'unknown'],
    ['localai', 500, 'provider_outcome_unknown', 'unknown'],
  ] as const)('%s answers %i: %s, billing: %s', async (server, status, code, billing) => {
    const body = server === 'sd-server' ? { error: 'in words' } : { detail: 'in words' };
    stubs[server].plan(/POST/, { reply: { status, body, ...(status === 503 && { headers: { 'retry-after': '5' } }) } });
    expect(await failureOf(made(server, ask(server, {})))).toMatchObject({ code, billing });
  });
});
