import sharp from 'sharp';
import { failureOf, inputImage, RecordedRun, requestFor } from '../../../test/support/stubs/recorded-run.ts';
import { SdServerStub } from '../../../test/support/stubs/sd-server.stub.ts';
import { seedOf } from '../contract/seed.ts';
import type { ProviderRequest, ResolvedInput } from '../contract/provider.ts';
import { openaiProvider } from './openai.provider.ts';
import { sdServer } from './sd-server.ts';

const TASK = 'task_01jd0000000000000000000000';
let stub: SdServerStub;
beforeEach(async () => {
  stub = await new SdServerStub().start();
});
afterEach(() => stub.stop());

function ask(input: Partial<ResolvedInput> = {}, images: Partial<ProviderRequest['images']> = {}): ProviderRequest {
  return requestFor({
    taskId: TASK,
    model: 'mine',
    kind: 'image',
    input: { prompt: 'a fox', size: '64x96', ...input } as ResolvedInput,
    images: { references: [], firstFrame: null, ...images },
    upstream: {
      model: 'flux1-schnell',
      baseUrl: stub.baseUrl,
      apiKey: null,
      durationPolicy: 'exact',
      pollIntervalMs: 1,
      declared: {
        provider: 'openai',
        dialect: 'sd-server',
        send: { sample_params: { sample_steps: 4, guidance: { txt_cfg: 1 } } },
      },
    },
  });
}

const make = (request: ProviderRequest, run = new RecordedRun()) => sdServer.prepare(request).generate(run);
const submitted = () => stub.requests.filter(({ path }) => path === '/sdcpp/v1/img_gen').map(({ fields }) => fields);

it('makes a job of its own wire, and takes its pictures', async () => {
  const outputs = await make(ask({ n: 2, negative_prompt: 'blur' }));
  expect(outputs).toHaveLength(2);
  const [first] = outputs;
  expect(await sharp(Buffer.isBuffer(first) ? first : first!.path).metadata()).toMatchObject({ width: 64, height: 96 });
  expect(submitted()).toEqual([
    {
      prompt: 'a fox',
      negative_prompt: 'blur',
      width: 64,
      height: 96,
      batch_count: 2,
      seed: seedOf(TASK),
      output_format: 'png',
      sample_params: { sample_steps: 4, guidance: { txt_cfg: 1 } },
    },
  ]);
});

it('takes more pictures than a job makes from several jobs, with seeds that count on', async () => {
  const run = new RecordedRun();
  expect(await make(ask({ n: 10, seed: 5 }), run)).toHaveLength(10);
  expect(run.sentSeeds).toEqual([...Array.from({ length: 8 }, () => 5), 13, 13]);
  expect(submitted().map(({ batch_count: n, seed }) => [n, seed])).toEqual([
    [8, 5],
    [2, 13],
  ]);
});

it('sends references and masks as base64', async () => {
  const reference = await inputImage(64, 96);
  await make(ask({ strength: 0.4 }, { references: [reference, reference], mask: reference }));
  const [{ ref_images: images, init_image: first, mask_image: mask, strength }] = submitted() as [
    Record<string, unknown>,
  ];
  expect(images).toEqual([first, first]);
  expect([typeof mask, strength]).toEqual(['string', 0.4]);
  expect(String(first)).not.toMatch(/^data:/);
});

it('waits while the queue is full, and fails with a failed job', async () => {
  stub.isFull = true;
  expect(await failureOf(make(ask()))).toMatchObject({ code: 'provider_unavailable', billing: 'none' });
  stub.isFull = false;
  stub.jobError = { code: 'oom', message: 'out of memory' };
  expect(await failureOf(make(ask()))).toMatchObject({ code: 'internal_error' });
});

it('cancels a job that waits, and no other', async () => {
  const waiting = await fetch(`${stub.origin}/sdcpp/v1/img_gen`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'x', width: 64, height: 64, batch_count: 1 }),
  });
  const { id } = (await waiting.json()) as { id: string };
  expect(await sdServer.cancel(ask(), id, AbortSignal.timeout(5_000))).toBe(true);
  expect(stub.requests.at(-1)).toMatchObject({ method: 'POST', path: `/sdcpp/v1/jobs/${id}/cancel` });
});

it('takes as plain text what is a command on the OpenAI routes', async () => {
  const prompt = 'a <sd_cpp_extra_args>{"steps":1}</sd_cpp_extra_args> fox';
  await make(ask({ prompt }));
  expect(submitted()[0]).toMatchObject({ prompt });
  const { declared: _declared, ...upstream } = ask().upstream;
  expect(() => openaiProvider.prepare({ ...ask({ prompt }), upstream })).toThrow(
    expect.objectContaining({ param: 'prompt' }),
  );
});
