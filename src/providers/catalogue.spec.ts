import { readFileSync } from 'node:fs';
import { catalog } from '../models/catalog.ts';
import type { Model } from '../models/definition/model.ts';
import { readOpened } from '../models/declaration/read-models.ts';
import { YamlFile } from '../models/declaration/yaml-file.ts';
import { loadConfig } from '../platform/config/config.ts';
import { ROOT_FOLDER } from '../platform/config/root-folder.ts';
import { checkBindings } from './bindings/check-bindings.ts';
import { isModelParameter } from '../models/definition/parameters.ts';
import { arkProvider } from './ark/ark.provider.ts';
import { type ProviderName, defaultBindings } from './bindings/binding.ts';
import { comfyuiProvider } from './comfyui/comfyui.provider.ts';
import { SHIPPED_TEMPLATES } from './comfyui/load-template.ts';
import { falProvider } from './fal/fal.provider.ts';
import { GeminiProvider } from './gemini/gemini.provider.ts';
import { openaiProvider } from './openai/openai.provider.ts';
import { isHint, prepareRequest } from './contract/prepare-request.ts';
import {
  OF_WORKER,
  type Provider,
  type ProviderRequest,
  type ResolvedInput,
  UnsupportedRequest,
} from './contract/provider.ts';
import { replicateProvider } from './replicate/replicate.provider.ts';
import { SandboxProvider } from './sandbox/sandbox.provider.ts';

const sandbox = new SandboxProvider();
afterAll(() => sandbox.onModuleDestroy());

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

/** The variable that makes a provider the default of the models it serves. */
const VARIABLES = {
  openai: 'OPENAI_API_KEY',
  gemini: 'GEMINI_API_KEY',
  ark: 'ARK_API_KEY',
  fal: 'FAL_KEY',
  replicate: 'REPLICATE_API_TOKEN',
  comfyui: 'COMFYUI_URL',
} as const;

/** Every provider that serves the model by default, with its upstream models; the sandbox always does. */
const serving = (model: Model) =>
  [
    ...Object.values(VARIABLES).flatMap((variable) => defaultBindings(model, loadConfig({ [variable]: 'http://set' }))),
    ...defaultBindings(model, loadConfig({})),
  ].filter(({ provider }, at, all) => all.findIndex((one) => one.provider === provider) === at);

const parametersOf = ({ parameters }: Model): string[] =>
  Object.keys(parameters.properties).filter(
    (name) => isModelParameter(name) && !OF_WORKER.includes(name) && !isHint(name),
  );

function aRequest({ id, kind, parameters }: Model, upstreamModel: string): ProviderRequest {
  const defaults = Object.entries(parameters.properties)
    .filter(([name]) => isModelParameter(name))
    .map(([name, schema]) => [name, schema.default]);
  return {
    taskId: 'task_01jd0000000000000000000000',
    model: id,
    kind,
    input: { ...Object.fromEntries(defaults), prompt: 'a fox' } as ResolvedInput,
    images: { references: [], firstFrame: null },
    upstream: {
      model: upstreamModel,
      baseUrl: 'http://127.0.0.1:9',
      apiKey: null,
      durationPolicy: 'exact',
      pollIntervalMs: null,
    },
  };
}

describe.each(catalog.models.map((model) => [model.id, model] as const))('the model %s', (_id, model) => {
  it('has default bindings of at least one provider besides the sandbox', () => {
    expect(serving(model).filter(({ provider }) => provider !== 'sandbox')).not.toEqual([]);
  });

  it('has bindings without a fault', () => {
    const path = `${ROOT_FOLDER}models/builtin/${model.id}.yaml`;
    const file = new YamlFile(path, readFileSync(path));
    expect(readOpened(file, { declared: true, createdAt: 0, checkBindings })).toMatchObject({ id: model.id });
    expect(file.faults).toEqual([]);
  });

  it('is prepared by every provider that serves it by default', () => {
    for (const { provider, model: upstreamModel } of serving(model)) {
      expect(
        prepareRequest(PROVIDERS[provider as Coded], aRequest(model, upstreamModel)).approximations,
      ).toBeInstanceOf(Array);
    }
  });

  it('has no parameter that a provider which serves it by default does not take', () => {
    for (const { provider, declared } of serving(model)) {
      const { takes } = PROVIDERS[provider as Coded];
      const wanted = parametersOf(model).filter((name) => declared?.when?.[name] !== 'absent');
      expect({ provider, dropped: wanted.filter((name) => !takes.includes(name as never)) }).toEqual({
        provider,
        dropped: [],
      });
    }
  });

  it('has a workflow for ComfyUI if it makes images', () => {
    expect(model.kind === 'video' || Object.hasOwn(SHIPPED_TEMPLATES, model.id)).toBe(true);
  });

  it('says what a first frame means in every reference_mode if it makes videos', () => {
    const modes = model.parameters.properties.reference_mode?.enum ?? [];
    expect(Object.keys(model.guidance?.loneFirstFrame ?? {}).toSorted()).toEqual([...modes].toSorted());
  });
});

it('does without a declared binding whose wire no adapter speaks', () => {
  const bindings = [{ provider: 'openai', dialect: 'localai', model: 'x' }, { provider: 'sandbox' }];
  const served = defaultBindings({ id: 'm', kind: 'video', bindings, choose: 'in_order' }, loadConfig({}));
  expect(served.map(({ provider }) => provider)).toEqual(['sandbox']);
});

it('has a binding for each address of equal servers, and resubmits to no unknown vendor by default', () => {
  const base_urls = ['http://gpu1:8000/v1', 'http://gpu2:8000/v1'];
  const bindings = [
    { provider: 'openai', model: 'x', base_urls, credential: null, concurrency: 2 },
    { provider: 'http' },
  ];
  const served = defaultBindings({ id: 'm', kind: 'image', bindings, choose: 'in_order' }, loadConfig({}));
  expect(served.map(({ baseUrl, concurrency, onUnknownOutcome }) => [baseUrl, concurrency, onUnknownOutcome])).toEqual([
    ...base_urls.map((url) => [url, 2, null]),
    ['', null, 'fail'],
  ]);
});

it.each(Object.entries(PROVIDERS))('%s refuses a parameter that it does not take', (_name, provider) => {
  const input = { prompt: 'a fox', aspect_ratio: '1:1', resolution: '2K', camera: 'handheld' };
  const prepare = () => prepareRequest(provider, { ...aRequest(catalog.models[0]!, 'any'), input });
  expect(prepare).toThrow(UnsupportedRequest);
  expect(prepare).toThrow(expect.objectContaining({ param: 'camera' }));
});
