import sharp from 'sharp';
import { failureOf, imageFile, inputImage, RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { PicturesStub, type PictureServer } from '../../../test/support/stubs/pictures.stub.ts';
import type { DeclaredBinding } from '../../models/definition/declared-binding.ts';
import { seedOf } from '../contract/seed.ts';
import type { InputImage, ProviderRequest, ResolvedInput } from '../contract/provider.ts';
import { openaiProvider } from './openai.provider.ts';

const provider = openaiProvider;
const stubs = {} as Record<PictureServer, PicturesStub>;
beforeAll(async () => {
  for (const server of ['vllm-omni', 'sglang', 'localai', 'xinference'] as const) {
    stubs[server] = await new PicturesStub(server).start();
  }
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
  server: PictureServer,
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
      pollIntervalMs: null,
      declared,
    },
  });
}

/** What the server got, and how many pictures came. */
async function made(server: PictureServer, request: ProviderRequest) {
  const before = stubs[server].requests.length;
  const prepared = provider.prepare(request);
  const run = new RecordedRun();
  const outputs = await prepared.generate(run);
  const requests = stubs[server].requests.slice(before);
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

it('sends references and masks as each server reads them', async () => {
  const images = { references: [reference], mask };
  const omni = await made('vllm-omni', ask('vllm-omni', { strength: 0.4 }, images));
  expect(omni.fields).toMatchObject({ strength: '0.4', seed: String(SEED) });
  expect(omni.files.map(({ field }) => field).toSorted()).toEqual(['image[]', 'mask_image']);
  const white = await sharp(omni.files.find(({ field }) => field === 'mask_image')!.bytes)
    .raw()
    .toBuffer();
  expect(white[0]).toBe(255);
  const sglang = await made('sglang', ask('sglang', {}, { references: [reference, reference] }));
  expect(sglang.files.map(({ field }) => field)).toEqual(['image[]', 'image[]']);
  const local = await made('localai', ask('localai', {}, { references: [reference] }));
  expect(local.fields.ref_images).toEqual([expect.stringMatching(/^iVBOR/)]);
  const xinference = await made('xinference', ask('xinference', {}, images));
  expect(xinference.fields).not.toHaveProperty('kwargs');
  expect([omni.seeds, xinference.seeds]).toEqual([[SEED], null]);
  expect(xinference.files.map(({ field }) => field).toSorted()).toEqual(['image', 'mask']);
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
  const { approximations } = await made('localai', ask('localai', { prompt: 'a | b' }));
  expect(approximations).toEqual([{ param: 'prompt', requested: '|', used: '｜' }]);
});

it.each([
  ['sglang', { mask: 'x' }, 'mask'],
  ['sglang', { strength: 0.5 }, 'strength'],
  ['vllm-omni', { background: 'transparent' }, 'background'],
  ['localai', { mask: 'x' }, 'mask'],
] as const)('does not go to %s with %j', (server, input, param) => {
  expect(() => provider.prepare(ask(server, input))).toThrow(expect.objectContaining({ param }));
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
