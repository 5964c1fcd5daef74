import { jest } from '@jest/globals';
import type { Caller } from '../../auth/access/caller.ts';
import { catalog } from '../../models/catalog.ts';
import { readOpened } from '../../models/declaration/read-models.ts';
import { YamlFile } from '../../models/declaration/yaml-file.ts';
import { loadConfig } from '../../platform/config/config.ts';
import type { ToolArguments } from '../contract/tool.ts';
import { CancelTaskTool } from './cancel-task.tool.ts';
import { GenerateImageTool } from './generate-image.tool.ts';
import { GenerateVideoTool } from './generate-video.tool.ts';
import { GetTaskTool } from './get-task.tool.ts';
import { GetUsageTool } from './get-usage.tool.ts';
import { KeepTaskTool } from './keep-task.tool.ts';
import { ListModelsTool } from './list-models.tool.ts';
import { ListTasksTool } from './list-tasks.tool.ts';
import { RetryTaskTool } from './retry-task.tool.ts';
import { ToolsService } from './tools.service.ts';

/** An agent reads the list as a whole. */
const MOST = 48_000;

const config = loadConfig({});
const none = {} as never;
const tools = new ToolsService(
  { count: async () => undefined } as never,
  new GenerateImageTool(config, none, none),
  new GenerateVideoTool(config, none, none),
  new GetTaskTool(config, none, none),
  new ListTasksTool(none, none, none),
  new CancelTaskTool(none, none),
  new RetryTaskTool(config, none, none, none),
  new KeepTaskTool(none, none),
  new ListModelsTool(none),
  new GetUsageTool(none, none),
);
const bytesFor = (caller: Partial<Caller>) => JSON.stringify(tools.descriptions(caller as Caller)).length;
const namesFor = (caller: Partial<Caller>) => tools.descriptions(caller as Caller).map(({ name }) => name);

/** Of 20 parameters, each with bounds of its own. */
function large(at: number, kind: 'image' | 'video') {
  const own = Array.from(
    { length: 12 },
    (_, k) =>
      `  x_knob_${k}: { type: integer, minimum: ${k}, maximum: ${at + k + 1}, default: ${k}, description: Turns knob ${k}. }`,
  );
  const words =
    kind === 'image'
      ? [
          'reference_images: { maxItems: 4 }',
          'mask: {}',
          'strength: { default: 0.5 }',
          `n: { maximum: ${1 + (at % 10)} }`,
        ]
      : [
          'first_frame_image_url: {}',
          'last_frame_image_url: {}',
          `duration: { maximum: ${10 + (at % 50)}, default: 5 }`,
          'generate_audio: {}',
        ];
  return `id: ${kind}-${at}
kind: ${kind}
description: ${'A model with many parameters. '.repeat(3)}
parameters:
  prompt: { maxLength: ${1000 + at} }
  negative_prompt: { maxLength: ${100 + at} }
  seed: { maximum: ${1000 + at} }
${words.map((word) => `  ${word}`).join('\n')}
${own.join('\n')}
sizes: { table: { columns: [c${at}], rows: { '1:1': [1024x1024], '${1 + at}:2': [1026x1024] } } }
bindings: [{ provider: sandbox }]
`;
}

afterAll(() => catalog.declare([]));

it.each([6, 12, 24, 40, 42, 200])('have a list that an agent can read, with %i models', (length) => {
  const models = Array.from({ length }, (_, at) => {
    const file = new YamlFile(`m${at}.yaml`, Buffer.from(large(at, at % 2 === 0 ? 'image' : 'video')));
    const model = readOpened(file, { declared: true, createdAt: 0 });
    expect(file.faults).toEqual([]);
    return model!;
  });
  catalog.declare(models);
  expect(bytesFor({})).toBeLessThan(MOST);
  expect(bytesFor({ models: [['image-*', 'video-*']] })).toBeLessThan(MOST);
});

describe('without a model of a kind', () => {
  const call = (models: string[][], name: string, given: object = { prompt: 'x' }) =>
    tools.call(
      name,
      given as ToolArguments,
      { caller: { models, scopes: ['generations:write'] }, request: {} } as never,
    );

  it('do not list the tool that makes it', () => {
    expect(namesFor({ models: [['gpt-*']] })).not.toContain('generate_video');
    expect(namesFor({ models: [['gpt-*']] })).toContain('generate_image');
    expect(namesFor({ models: [['sora-2']] })).not.toContain('generate_image');
    expect(namesFor({ models: [['none']] })[0]).toBe('get_task');
  });

  it('say so to a client that calls it from an older list', async () => {
    const said = async (...args: Parameters<typeof call>) => JSON.stringify(await call(...args));
    expect(await said([['gpt-*']], 'generate_video')).toContain('may use no model that makes videos');
    expect(await said([['none']], 'generate_image', { prompt: 'x', model: 'gpt-image-2' })).toContain(
      'model_not_allowed',
    );
    const shipped = jest.spyOn(catalog, 'shipped', 'get').mockReturnValue([]);
    catalog.declare([]);
    expect(namesFor({})).not.toContain('generate_image');
    expect(await said([], 'generate_image')).toContain('There is no model that makes images.');
    shipped.mockRestore();
  });
});
