import { jest } from '@jest/globals';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { RenderPool } from '@darkroom/sandbox/render-pool';
import { imageFile, RecordedRun, requestFor } from '../../test/support/stubs/recorded-run.ts';
import { RefusingUpstream } from '../../test/support/stubs/refusing.stub.ts';
import type { StubRequest } from '../../test/support/stubs/stub-http.ts';
import { type ConfigError, loadConfig } from '../platform/config/config.ts';
import { catalog, findModel } from '../models/catalog.ts';
import type { Model } from '../models/definition/model.ts';
import { modelParametersOf, valuesOf } from '../models/definition/parameters.ts';
import { arkProvider } from './ark/ark.provider.ts';
import { defaultBindings, type ProviderName } from './bindings/binding.ts';
import { readBindings } from './bindings/bindings-file.ts';
import { comfyuiProvider } from './comfyui/comfyui.provider.ts';
import { prepareRequest } from './contract/prepare-request.ts';
import {
  type InputImage,
  type Provider,
  type ProviderRequest,
  type ResolvedInput,
  UnsupportedRequest,
} from './contract/provider.ts';
import { falProvider } from './fal/fal.provider.ts';
import { GeminiProvider } from './gemini/gemini.provider.ts';
import { openaiProvider } from './openai/openai.provider.ts';
import { replicateProvider } from './replicate/replicate.provider.ts';
import { SandboxProvider } from './sandbox/sandbox.provider.ts';

/** What is sent for a request is a promise: the operator pays for it. Snapshots hold it to the byte. */

const sandbox = new SandboxProvider();
type Coded = Exclude<ProviderName, 'http'>;
const PROVIDERS: Record<Coded, Provider> = {
  openai: openaiProvider,
  gemini: new GeminiProvider(),
  ark: arkProvider,
  fal: falProvider,
  replicate: replicateProvider,
  comfyui: comfyuiProvider,
  sandbox,
};

const stub = new RefusingUpstream();
const rendered = jest.spyOn(RenderPool.prototype, 'render').mockResolvedValue([]);
const folder = mkdtempSync(join(tmpdir(), 'darkroom-wires-'));
let white: InputImage;
beforeAll(async () => {
  await stub.start();
  const { width, height } = high;
  const bytes = await sharp({ create: { width, height, channels: 3, background: '#fff' } })
    .png()
    .toBuffer();
  white = imageFile(bytes, { contentType: 'image/png', width, height });
});
afterAll(async () => {
  rendered.mockRestore();
  await sandbox.onModuleDestroy();
  await stub.stop();
  rmSync(folder, { recursive: true });
});

const picture = (text: string, width: number, height: number) =>
  imageFile(Buffer.from(text), { contentType: 'image/png', width, height });
const wide = picture('wide', 640, 360);
const high = picture('high', 300, 400);

interface Case {
  name: string;
  input?: Partial<ResolvedInput>;
  images?: Partial<ProviderRequest['images']>;
  upstream?: Partial<ProviderRequest['upstream']>;
}

/** Every ratio in every resolution, then each other value once. */
function casesOf(model: Model): Case[] {
  const { aspect_ratio: _ratio, resolution: _resolution, ...others } = model.parameters.properties;
  const sizes = valuesOf(model.parameters, 'aspect_ratio').flatMap((ratio) =>
    valuesOf(model.parameters, 'resolution').map((each): Case => ({
      name: `${ratio} ${each}`,
      input: { aspect_ratio: ratio, resolution: each },
    })),
  );
  const values = Object.entries(others).flatMap(([name, schema]) => {
    const bounds = schema.type === 'integer' ? [schema.minimum!, Math.min(schema.maximum!, 2), schema.maximum!] : [];
    return [...new Set(schema.enum ?? (name === 'n' ? bounds.slice(0, 2) : bounds))]
      .filter((value) => value !== schema.default && !['priority', 'output_compression'].includes(name))
      .filter((value) => value !== 'png' && value !== 'jpeg') // one format says what becomes of all
      .map((value): Case => ({ name: `${name} ${value}`, input: { [name]: value } }));
  });
  return [...sizes, ...values, ...(model.kind === 'image' ? pictureCases(model) : filmCases(model))];
}

const WITHOUT_TABLE = { aspect_ratio: undefined, resolution: undefined } as unknown as Partial<ResolvedInput>;

function pictureCases({ parameters }: Model): Case[] {
  const two = { input: { reference_images: ['https://a/1', 'https://a/2'] }, images: { references: [wide, high] } };
  const last = valuesOf(parameters, 'resolution').at(-1)!;
  return [
    { name: 'one reference', input: { reference_images: ['https://a/1'] }, images: { references: [high] } },
    { name: 'two references', ...two },
    { name: `two references ${last}`, ...two, input: { ...two.input, resolution: last } },
    { name: 'two references 1:1', ...two, input: { ...two.input, aspect_ratio: '1:1' } },
    ...('mask' in parameters.properties
      ? [
          {
            name: 'a mask',
            input: { reference_images: ['https://a/1'], mask: 'https://a/2' },
            images: { references: [high], mask: white },
          },
        ]
      : []),
    ...('size' in parameters.properties
      ? [{ name: 'exact size', input: { ...WITHOUT_TABLE, size: '1600x1008' } }]
      : []),
  ];
}

function filmCases({ parameters }: Model): Case[] {
  const first = { first_frame_image_url: 'https://a/1' };
  const reference = { reference_image_url: 'https://a/2' };
  const nearest = { durationPolicy: 'nearest' } as const;
  const { minimum, maximum } = parameters.properties.duration!;
  const modes = valuesOf(parameters, 'reference_mode').map((reference_mode) => ({
    name: `first frame ${reference_mode}`,
    input: { ...first, reference_mode },
    images: { firstFrame: wide },
  }));
  const references = [
    { name: 'reference', input: reference, images: { references: [wide] } },
    { name: 'both', input: { ...first, ...reference }, images: { firstFrame: wide, references: [high] } },
  ];
  return [
    ...modes,
    ...('reference_image_url' in parameters.properties ? references : []),
    {
      name: 'first and last frame',
      input: {
        ...first,
        last_frame_image_url: 'https://a/3',
        reference_mode: valuesOf(parameters, 'reference_mode')[1]!,
      },
      images: { firstFrame: wide, lastFrame: high },
    },
    { name: 'no sound', input: { generate_audio: false } },
    ...[minimum!, 7, maximum!].map((duration) => ({
      name: `nearest to ${duration} s`,
      input: { duration },
      upstream: nearest,
    })),
  ];
}

function requestOf(model: Model, upstreamModel: string, { input, images, upstream }: Case): ProviderRequest {
  const defaults = modelParametersOf(model.parameters).filter(([name]) => name !== 'output_compression');
  const base: ProviderRequest = {
    taskId: 'task_01jd0000000000000000000000',
    model: model.id,
    kind: model.kind,
    input: { ...Object.fromEntries(defaults), prompt: 'a fox' } as ResolvedInput,
    images: { references: [], firstFrame: null },
    upstream: {
      model: upstreamModel,
      baseUrl: stub.origin,
      apiKey: 'key',
      durationPolicy: 'exact',
      pollIntervalMs: 1,
    },
  };
  return requestFor(base, {
    ...(input && { input }),
    ...(upstream && { upstream }),
    images: { ...base.images, ...images },
  });
}

/** What a request becomes: what it approximates, and what is sent first. */
async function wireOf(provider: Provider, request: ProviderRequest): Promise<string> {
  stub.requests.length = 0;
  rendered.mockClear();
  const run = new RecordedRun();
  try {
    const { approximations, generate } = prepareRequest(provider, request);
    await generate(run).catch(() => undefined);
    const orders = rendered.mock.calls.map(([order]) =>
      JSON.stringify(order)
        .replaceAll(run.scratchDir, '')
        .replace(wide.path, 'wide')
        .replace(high.path, 'high')
        .replace(white.path, 'white'),
    );
    const sent = new Set([...stub.requests.filter(({ method }) => method === 'POST').map(textOf), ...orders]);
    return [...approximations.map((each) => JSON.stringify(each)), ...sent].join(' | ');
  } catch (error) {
    if (error instanceof UnsupportedRequest) return `refused, ${error.param}: ${error.message}`;
    throw error;
  } finally {
    run.close();
  }
}

/** The body to the letter; of long ones such as workflows the hash. */
function textOf({ method, path, fields, files }: StubRequest): string {
  const body = JSON.stringify(fields);
  const shown = body.length > 600 ? `sha256 ${createHash('sha256').update(body).digest('hex').slice(0, 16)}` : body;
  const parts = files.map(({ field, name, type }) => `${field} ${name} ${type}`);
  return [`${method} ${path}`, shown, ...parts].join(' ');
}

/** Each model at each provider that serves it by default, and at those that PROVIDERS may bind it to. */
const BOUND: readonly [Coded, string, string][] = [
  ['openai', 'gpt-image-2', 'gpt-image-2'],
  ['fal', 'gpt-image-2', 'openai/gpt-image-2'],
  ['replicate', 'gpt-image-2', 'openai/gpt-image-2'],
  ['comfyui', 'gpt-image-2', 'default'],
  ['sandbox', 'gpt-image-2', 'gpt-image-2'],
  ['openai', 'gpt-image-2', 'gpt-image-1.5'],
  ['openai', 'gpt-image-2', 'flux'],
  ['gemini', 'gpt-image-2', 'gemini-3-pro-image'],
  ['gemini', 'nano-banana-2', 'gemini-3.1-flash-image'],
  ['fal', 'nano-banana-2', 'fal-ai/nano-banana-2'],
  ['replicate', 'nano-banana-2', 'google/nano-banana-2'],
  ['comfyui', 'nano-banana-2', 'default'],
  ['sandbox', 'nano-banana-2', 'nano-banana-2'],
  ['openai', 'nano-banana-2', 'gpt-image-2'],
  ['fal', 'nano-banana-2', 'openai/gpt-image-2'],
  ['gemini', 'nano-banana-pro', 'gemini-3-pro-image'],
  ['fal', 'nano-banana-pro', 'fal-ai/nano-banana-pro'],
  ['replicate', 'nano-banana-pro', 'google/nano-banana-pro'],
  ['comfyui', 'nano-banana-pro', 'default'],
  ['sandbox', 'nano-banana-pro', 'nano-banana-pro'],
  ['ark', 'sora-2', 'doubao-seedance-2-0-260128'],
  ['fal', 'sora-2', 'bytedance/seedance-2.0'],
  ['replicate', 'sora-2', 'bytedance/seedance-2.0'],
  ['sandbox', 'sora-2', 'sora-2'],
  ['openai', 'sora-2', 'sora-2'],
  ['openai', 'sora-2', 'wan'],
  ['ark', 'seedance-2', 'doubao-seedance-2-0-260128'],
  ['fal', 'seedance-2', 'bytedance/seedance-2.0'],
  ['replicate', 'seedance-2', 'bytedance/seedance-2.0'],
  ['sandbox', 'seedance-2', 'seedance-2'],
  ['openai', 'seedance-2', 'wan'],
];

it.each(BOUND)('sends to %s for %s by %s', async (name, id, upstreamModel) => {
  const model = findModel(id)!;
  const lines = [];
  for (const each of casesOf(model)) {
    lines.push(`${each.name}: ${await wireOf(PROVIDERS[name], requestOf(model, upstreamModel, each))}`);
  }
  expect(lines.join('\n')).toMatchSnapshot();
});

describe('the bindings without a PROVIDERS file', () => {
  const variables = ['OPENAI_API_KEY', 'GEMINI_API_KEY', 'ARK_API_KEY', 'FAL_KEY', 'REPLICATE_API_TOKEN'];
  const sets = [
    [],
    ...[...variables, 'COMFYUI_URL'].map((variable) => [variable]),
    variables,
    ['FAL_KEY', 'REPLICATE_API_TOKEN', 'COMFYUI_URL'],
  ];

  it.each(catalog.models.map(({ id }) => id))('of %s', (id) => {
    const lines = sets.map((names) => {
      const config = loadConfig(Object.fromEntries(names.map((name) => [name, 'http://gpu:8188/'])));
      const bindings = defaultBindings(findModel(id)!, config).map((binding) => ({ ...binding, declared: undefined }));
      return `${names.join(' ')}: ${JSON.stringify(bindings)}`;
    });
    expect(lines.join('\n')).toMatchSnapshot();
  });
});

it('says what is wrong in a PROVIDERS file', () => {
  const file = join(folder, 'providers.yaml');
  const faultsOf = (yaml: string) => {
    writeFileSync(file, yaml);
    try {
      readBindings({ ...loadConfig({}), providersFile: file });
      return [];
    } catch (error) {
      return (error as ConfigError).faults.map((fault) => fault.replaceAll(folder, ''));
    }
  };
  const faults = [
    'models: 5',
    'models: {}\nbudget: 5',
    'models:\n  dall-e-2:\n    - { provider: openai, model: x }\n  gpt-image-2: []\n  sora-2: [7]',
    'models:\n  gpt-image-2:\n    - { model: x, speed: 2 }\n    - { provider: openai }\n    - { provider: acme, model: 7 }',
    'models:\n  gpt-image-2:\n    - { provider: openai, model: x, base_url: gpu, concurrency: 0, duration_policy: any }',
    'models:\n  sora-2:\n    - { provider: comfyui, model: default }\n    - { provider: comfyui, model: none.json }',
    'models:\n  gpt-image-2:\n    - { provider: comfyui, model: flux }',
    'currency: usd\nprices:\n  - { provider: acme, per_image: 1 }\n  - { model: dall-e-9, per_image: x }\n  - {}',
    'prices:\n  - { model: seedance-2, resolution: 4K, quality: high, per_task: 1 }\n  - { resolution: 8K, quality: best, per_task: 1 }',
    'models: [',
  ].flatMap(faultsOf);
  expect(faults.join('\n')).toMatchSnapshot();
});
