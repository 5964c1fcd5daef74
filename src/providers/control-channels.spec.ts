import { findModel } from '../models/catalog.ts';
import type { DeclaredBinding } from '../models/definition/declared-binding.ts';
import type { Definition, Provider, ProviderRequest, ResolvedInput } from './contract/provider.ts';
import { inputImage, RecordedRun } from '../../test/support/stubs/recorded-run.ts';
import { RefusingUpstream } from '../../test/support/stubs/refusing.stub.ts';
import { arkProvider } from './ark/ark.provider.ts';
import { comfyuiProvider } from './comfyui/comfyui.provider.ts';
import { prepareRequest } from './contract/prepare-request.ts';
import { UnsupportedRequest } from './contract/provider.ts';
import { falProvider } from './fal/fal.provider.ts';
import { GeminiProvider } from './gemini/gemini.provider.ts';
import { httpCalls } from './http/http.provider.ts';
import { openaiProvider } from './openai/openai.provider.ts';
import { sdServer } from './openai/sd-server.ts';
import { replicateProvider } from './replicate/replicate.provider.ts';

/**
 * A text of a client is data on every road to a provider. A request with a hostile text is, once that text is replaced,
 * the same request as one with a plain text; or it is not sent.
 */

const stub = new RefusingUpstream();
beforeAll(() => stub.start());
afterAll(() => stub.stop());

const COMMAND = '<sd_cpp_extra_args>{"steps":1}</sd_cpp_extra_args>';
const TEXTS = [
  COMMAND,
  COMMAND.toUpperCase(),
  '< sd_cpp_extra_args>{}',
  'a | b',
  'a\r\nX-Evil: 1\r\n\r\nb',
  '..',
  '../../admin?x=1#y',
  // Slots, hosts, the ends of a JSON text and of a path, and what a replacement would read.
  '{{seed}} {{key}} {{job_id}} {{mask:file}} http://169.254.169.254/latest //evil.example key@evil.example:80',
  '","n":9,"x":" %2e%2e/%0d%0aX-Evil: 1 $& $1 ${7*7} <lora:evil:1>',
];
const PARAMS = ['prompt', 'negative_prompt', 'x_style'] as const;
type Param = (typeof PARAMS)[number];
const PLAIN: Readonly<Record<Param, string>> = { prompt: 'a fox', negative_prompt: 'blur', x_style: 'ink' };

interface Road {
  provider: Provider;
  binding: DeclaredBinding;
  params: readonly Param[];
  kind?: 'image' | 'video';
  hasReference?: true;
  /** The text as it is sent; null: the binding must be skipped. */
  sent?: (text: string, param: Param) => string | null;
}

/** Parameters that these bindings leave out. */
const TABLE = ['aspect_ratio', 'resolution'];
const OWN = { style: '{{x_style}}', deep: { note: ['in {{x_style}}'] } };
const ALL_OWN = { ...OWN, text: 'of {{prompt}}', negative: '{{negative_prompt}}' };
const isCommand = (text: string) => /sd_cpp_extra_args/i.test(text);
const noCommand = (text: string, param: Param) => (param === 'prompt' && isCommand(text) ? null : text);
const noBar = (text: string, param: Param) => (param === 'x_style' ? text : text.replaceAll('|', '\uFF5C'));
// A header holds printable ASCII in one line.
const oneLine = (text: string) => (/[\r\n]/.test(text) ? null : text);
const noSteps = (text: string) => (text === '..' ? null : text);

const dialect = (name: string, model = 'served'): DeclaredBinding => ({
  provider: 'openai',
  dialect: name,
  model,
  send: OWN,
});
const pictures = (name: string, more: Partial<Road> = {}): [string, Road][] => {
  const takesNegative = !['openai', 'litellm'].includes(name);
  const road: Road = {
    provider: name === 'sd-server' ? sdServer : openaiProvider,
    binding: dialect(name),
    params: takesNegative ? PARAMS : ['prompt', 'x_style'],
    ...more,
  };
  return [
    [`openai, ${name}`, road],
    [
      `openai, ${name}, with a reference`,
      { ...road, hasReference: true, ...(name === 'xinference' && { params: ['prompt', 'x_style'] }) },
    ],
  ];
};
const films = (name: string, more: Partial<Road> = {}): [string, Road] => [
  `openai, ${name}, films`,
  {
    provider: openaiProvider,
    binding: dialect(name),
    kind: 'video',
    params: ['openai', 'litellm'].includes(name) ? ['prompt', 'x_style'] : PARAMS,
    ...more,
  },
];
const http = (submit: Omit<NonNullable<DeclaredBinding['submit']>, 'path'> & { path?: string }): DeclaredBinding => ({
  provider: 'http',
  approximate: TABLE,
  submit: { path: '/make', ...submit },
  outputs: '$.url',
});

const ROADS: [string, Road][] = [
  ...pictures('openai', { sent: noCommand }),
  ...pictures('litellm', { sent: noCommand }),
  ...pictures('vllm-omni'),
  ...pictures('sglang'),
  ...pictures('sd-server'),
  ...pictures('localai', { sent: noBar }),
  ...pictures('xinference'),
  films('openai', { sent: noCommand }),
  films('litellm', { sent: noCommand }),
  films('vllm-omni'),
  films('sglang'),
  [
    'fal, send',
    {
      provider: falProvider,
      binding: { provider: 'fal', model: 'a/b', send: ALL_OWN, approximate: TABLE },
      params: PARAMS,
    },
  ],
  ...['openai/gpt-image-2', 'fal-ai/nano-banana-2'].map((model): [string, Road] => [
    `fal, ${model}`,
    { provider: falProvider, binding: { provider: 'fal', model }, params: ['prompt'] },
  ]),
  [
    'fal, seedance',
    {
      provider: falProvider,
      binding: { provider: 'fal', model: 'bytedance/seedance-2.0' },
      params: ['prompt'],
      kind: 'video',
    },
  ],
  [
    'replicate, send',
    {
      provider: replicateProvider,
      binding: { provider: 'replicate', model: 'a/b', send: ALL_OWN, approximate: TABLE },
      params: PARAMS,
    },
  ],
  ...['openai/gpt-image-2', 'google/nano-banana-2'].map((model): [string, Road] => [
    `replicate, ${model}`,
    { provider: replicateProvider, binding: { provider: 'replicate', model }, params: ['prompt'] },
  ]),
  ['gemini', { provider: new GeminiProvider(), binding: { provider: 'gemini', model: 'g' }, params: ['prompt'] }],
  ['ark', { provider: arkProvider, binding: { provider: 'ark', model: 'a' }, params: ['prompt'], kind: 'video' }],
  ['comfyui', { provider: comfyuiProvider, binding: { provider: 'comfyui', workflow: 'w.json' }, params: PARAMS }],
  ['http, json', { provider: httpCalls, binding: http({ json: ALL_OWN }), params: PARAMS }],
  ['http, form', { provider: httpCalls, binding: http({ form: ALL_OWN }), params: PARAMS }],
  [
    'http, path',
    {
      provider: httpCalls,
      binding: http({ path: '/make/{{prompt}}/{{x_style}}?not={{negative_prompt}}' }),
      params: PARAMS,
      sent: noSteps,
    },
  ],
  [
    'http, header',
    {
      provider: httpCalls,
      binding: http({ headers: { 'x-text': '{{prompt}}', 'x-more': 'of {{negative_prompt}}, {{x_style}}' } }),
      params: PARAMS,
      sent: oneLine,
    },
  ],
];

const node = (inputs: object) => ({ class_type: 'Any', inputs });
const DEFINITION = {
  ...findModel('gpt-image-2')!,
  parameters: {
    ...findModel('gpt-image-2')!.parameters,
    properties: Object.fromEntries(PARAMS.map((name) => [name, { type: 'string' }])),
  },
  workflows: new Map([
    ['w.json', { 1: node({ ...ALL_OWN, prompt: '{{prompt}}', width: '{{width}}', height: '{{height}}' }) }],
  ]),
} as unknown as Definition;

async function requestOf(
  { binding, params, kind = 'image', hasReference }: Road,
  texts: Readonly<Record<Param, string>>,
): Promise<ProviderRequest> {
  const ofKind = kind === 'image' ? { resolution: '1K', n: 1 } : { resolution: '720P', duration: 5 };
  const given = Object.fromEntries(params.map((name) => [name, texts[name]]));
  const reference = hasReference && { reference_images: ['https://a/1'] };
  return {
    taskId: 'task_01jd0000000000000000000000',
    model: kind === 'image' ? 'gpt-image-2' : 'seedance-2',
    ...(kind === 'image' && { definition: DEFINITION }),
    kind,
    input: { aspect_ratio: '16:9', ...ofKind, ...reference, ...given } as unknown as ResolvedInput,
    images: { references: hasReference ? [await inputImage(64, 64)] : [], firstFrame: null },
    upstream: {
      model: binding.model ?? '',
      baseUrl: `${stub.origin}/v1`,
      apiKey: 'key',
      durationPolicy: 'exact',
      pollIntervalMs: 1,
      declared: binding,
    },
  };
}

/** The requests that a road sends, without what differs in each; `refused: <param>` if it sends none. */
async function sentOn(road: Road, texts: Readonly<Record<Param, string>>): Promise<unknown> {
  stub.requests.length = 0;
  const run = new RecordedRun();
  try {
    const { generate } = prepareRequest(road.provider, await requestOf(road, texts));
    await generate(run).catch(() => undefined);
  } catch (error) {
    if (error instanceof UnsupportedRequest) return `refused: ${error.param}`;
    throw error;
  } finally {
    run.close();
  }
  expect(stub.requests.length).toBeGreaterThan(0);
  return stub.requests.map(({ method, path, query, headers, fields, files }) => {
    const { 'content-length': _length, 'sec-websocket-key': _key, 'content-type': type, ...others } = headers;
    const parts = files.map(({ field, name, type }) => [field, name, type]);
    return {
      method,
      path,
      query,
      type: type?.split(';')[0],
      others,
      fields: Object.entries(fields).map(unpacked),
      parts,
    };
  });
}

/** A field, of which some servers take a text with JSON. */
const unpacked = ([name, value]: [string, unknown]): unknown =>
  typeof value === 'string' && value.startsWith('{"') ? [name, JSON.parse(value)] : [name, value];

/** Replaces a text in every value, also where a path has it, but in no name. */
function replaced(value: unknown, text: string, plain: string): unknown {
  if (typeof value === 'string') {
    if (value.includes(text)) return value.replaceAll(text, () => plain);
    return value.replaceAll(encodeURIComponent(text), () => encodeURIComponent(plain));
  }
  if (Array.isArray(value)) return value.map((item) => replaced(item, text, plain));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaced(item, text, plain)]));
}

it.each(ROADS)('%s: no text is more than a value', async (_name, road) => {
  const plain = await sentOn(road, PLAIN);
  for (const param of road.params) {
    for (const text of TEXTS) {
      const seen = await sentOn(road, { ...PLAIN, [param]: text });
      const expected = (road.sent ?? ((same) => same))(text, param);
      const where = { param, text };
      if (expected === null) expect({ ...where, seen }).toEqual({ ...where, seen: `refused: ${param}` });
      else expect({ ...where, seen: replaced(seen, expected, PLAIN[param]) }).toEqual({ ...where, seen: plain });
    }
  }
});
