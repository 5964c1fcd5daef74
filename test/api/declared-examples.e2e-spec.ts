// Own settings: the declarations of the examples, which the sandbox serves.
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../support/clients/api.ts';
import { faultOf, mcpClient, textOf } from '../support/clients/mcp.ts';
import { darkroom } from '../support/darkroom-command.ts';
import { type Example, examplesFor, writeExamples } from '../support/declared-examples.ts';
import { type OwnService, startOwnService } from '../support/service.ts';

type Json = Record<string, any>;
/** The pictures are not rendered: what a task is asked for is written before. */
const PROMPT = 'a fox #fail:provider_rejected';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-examples-'));
let service: OwnService;
let api: Api;
let agent: Client;
let examples: Example[];
let ids: string[];
beforeAll(async () => {
  ids = writeExamples(join(folder, 'models'));
  service = await startOwnService({ MODELS: join(folder, 'models'), MODELS_SANDBOX: 'true', TASK_SWEEP_S: '0.3' });
  const scopes = ['generations:write', 'tasks:read'];
  const { body } = await service.api.call<Json>('POST', '/v1/api_keys', { name: 'x', scopes, models: ['*'] });
  api = new Api(service.baseUrl, body.key);
  agent = await mcpClient('modern', new URL('/mcp', service.baseUrl), { key: api.key! });
  examples = await examplesFor(api);
});
afterAll(async () => {
  await agent?.close();
  await service?.close();
  rmSync(folder, { recursive: true });
});

const post = async (path: string, body: object): Promise<Json> => (await api.call<Json>('POST', path, body)).body;
const camel = (name: string) => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const isOwn = ([name]: [string, unknown]) => name.startsWith('x_');

/** The parameters, with those of the model alone in `extra`. */
function withExtra(body: object): Json {
  const entries = Object.entries(body);
  const own = entries.filter(isOwn);
  const shared = Object.fromEntries(entries.filter((entry) => !isOwn(entry)));
  return own.length > 0 ? { ...shared, extra: Object.fromEntries(own) } : shared;
}

/** The route of OpenAI for these parameters, and its body. */
function atOpenai({ kind, pixels }: Example, given: Json): [string, Json] {
  const { aspect_ratio: ratio, resolution, ...rest } = given;
  const size = ratio === undefined && resolution === undefined ? {} : { size: pixels };
  const image = (id: string) => (id.startsWith('file_') ? { file_id: id } : { image_url: id });
  if (kind === 'video') {
    const { duration, first_frame_image_url: first, ...others } = rest;
    const seconds = duration === undefined ? {} : { seconds: String(duration) };
    return ['/v1/videos', { ...others, ...size, ...seconds, ...(first && { input_reference: image(first) }) }];
  }
  const { reference_images: references, mask, ...others } = rest;
  if (!references) return ['/v1/images/generations', { ...rest, ...size }];
  const images = (references as string[]).map(image);
  return ['/v1/images/edits', { ...others, ...size, images, ...(mask && { mask: image(mask) }) }];
}

/** OpenAI's names of parameters in our words. */
const WORDS: Record<string, string> = { seconds: 'duration', input_reference: 'first_frame_image_url' };
const ours = (fault?: Json | null) =>
  fault ? { ...fault, param: WORDS[fault.param as string] ?? fault.param } : undefined;

function commandFor({ prompt, model, ...given }: Json): string[] {
  const { reference_images: references = [], first_frame_image_url: first, ...others } = given;
  const options = (name: string, values: string[]) => (values.length > 0 ? [name, ...values] : []);
  return [
    'generate',
    prompt,
    ...options('--model', [model]),
    ...options('--url', [service.baseUrl]),
    ...options('--key', [api.key!]),
    ...options('--out', [folder]),
    ...options('--reference-image', references),
    ...options('--first-frame', first ? [first] : []),
    ...options(
      '--set',
      Object.entries(others).map(([name, value]) => `${name}=${value as string}`),
    ),
  ];
}

/** What each edge answers to the same request: an error, or nothing if it has made a task. */
type Edge = (example: Example, body: Json) => Promise<Json | undefined>;
const EDGES: Record<string, Edge> = {
  REST: async (_, body) => (await post('/v1/generations', body)).error,
  GraphQL: async (_, body) => {
    const input = Object.fromEntries(Object.entries(withExtra(body)).map(([name, value]) => [camel(name), value]));
    const query = 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId } }';
    return (await post('/graphql', { query, variables: { input } })).errors?.[0].extensions;
  },
  'the route of OpenAI': async (example, body) => {
    const { error } = await post(...atOpenai(example, body));
    return error?.code === 'provider_rejected' ? undefined : ours(error);
  },
  'an agent': async ({ kind }, body) => {
    const call = { name: `generate_${kind}`, arguments: withExtra(body) };
    const result = (await agent.callTool(call)) as CallToolResult;
    return textOf(result).startsWith('{"error"') ? faultOf(result) : undefined;
  },
  'a batch': async (_, body) => (await post('/v1/batches', { requests: [{ body }] })).error?.errors[0],
  'a batch as at OpenAI': async (example, given) => {
    const [endpoint, body] = atOpenai(example, given);
    return ours((await post('/v1/batches', { endpoint, requests: [{ custom_id: 'a', body }] })).error?.errors[0]);
  },
  'the command line': async (_, body) => {
    const { err } = await darkroom(commandFor(body), service.env);
    const [, code, param] = /^(?:Error: |error: )?([a-z_]+) \(([a-z0-9_.]+)\): /m.exec(err) ?? [];
    return code === undefined ? undefined : { code, param };
  },
};

async function newest(): Promise<Json> {
  const { body } = await api.get<{ data: Json[] }>('/v1/tasks?limit=1');
  return body.data[0] ?? {};
}

it('has an example for every file, with a value for each parameter', async () => {
  expect(examples.map(({ model }) => model).toSorted()).toEqual(ids.toSorted());
  for (const { model, input } of examples) {
    const { body } = await api.get<Json>(`/v1/models/${model}`);
    const common = ['model', 'prompt', 'output_format', 'output_compression', 'metadata', 'priority', 'parent_task_id'];
    const names = Object.keys(body.parameters.properties).filter((name) => !common.includes(name));
    // Exact pixels take the place of ratio and resolution.
    expect(names.filter((name) => !(name in input) && name !== 'size')).toEqual([]);
  }
});

describe.each(Object.entries(EDGES))('%s', (name, edge) => {
  it('makes of each example the same task', async () => {
    for (const example of examples) {
      const { model, input } = example;
      const before = await newest();
      expect([model, await edge(example, { model, prompt: PROMPT, ...input })]).toEqual([model, undefined]);
      const task = await newest();
      expect(task.task_id).not.toBe(before.task_id);
      expect([task.model, task.input]).toEqual([model, { prompt: PROMPT, ...input }]);
      await api.untilFinal(task.task_id);
    }
  });

  it('refuses the same', async () => {
    const refused: [string, Json, string, string][] = [
      ['qwen-image', { x_steps: 51 }, 'value_out_of_range', 'x_steps'],
      ['qwen-image', { x_cfg: 0.5 }, 'unsupported_parameter', 'x_cfg'],
      ['qwen-image', { x_none: 1 }, 'unknown_parameter', 'x_none'],
      ['qwen-image', { size: '500x768' }, 'invalid_value', 'size'],
      ['qwen-image', { strength: 0.5 }, 'missing_required_parameter', 'reference_images'],
      ['qwen-image', { seed: -1 }, 'value_out_of_range', 'seed'],
      ['qwen-image', { negative_prompt: 'x'.repeat(2001) }, 'string_too_long', 'negative_prompt'],
      ['flux-local', { n: 2 }, 'unsupported_parameter', 'n'],
      ['flux-local', { negative_prompt: 'x' }, 'unsupported_parameter', 'negative_prompt'],
      ['sdxl', { n: 5 }, 'value_out_of_range', 'n'],
      ['gpt-image-as-shipped', { seed: 7 }, 'unsupported_parameter', 'seed'],
      ['kling-3', { duration: 2 }, 'value_out_of_range', 'duration'],
      ['kling-3', { x_cfg: 2 }, 'value_out_of_range', 'x_cfg'],
      ['kling-3', { seed: 7 }, 'unsupported_parameter', 'seed'],
      [
        'kling-3',
        { last_frame_image_url: 'https://a.example/1.png' },
        'missing_required_parameter',
        'first_frame_image_url',
      ],
      ['acme-film', { duration: 7 }, 'invalid_value', 'duration'],
      ['acme-film', { generate_audio: true }, 'unsupported_parameter', 'generate_audio'],
    ];
    const before = await newest();
    // Each command takes a second to start.
    const isFirst = ([model]: (typeof refused)[number], at: number) =>
      refused.findIndex(([other]) => other === model) === at;
    const asked = name === 'the command line' ? refused.filter(isFirst) : refused;
    const seen = [];
    for (const [model, fields] of asked) {
      const example = examples.find((each) => each.model === model)!;
      const fault = await edge(example, { model, prompt: PROMPT, ...fields });
      seen.push([model, fields, fault?.code, fault?.param]);
    }
    expect(seen).toEqual(asked);
    expect((await newest()).task_id).toBe(before.task_id);
  });
});
