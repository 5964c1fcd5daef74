import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import type { Declaration } from '../../models/declaration/declaration.ts';
import { importComfy } from './import-comfy.ts';

const folder = mkdtempSync(join(tmpdir(), 'darkroom-import-spec-'));
const before = process.env['MODELS'];
beforeAll(() => (process.env['MODELS'] = folder));
afterAll(() => {
  if (before === undefined) delete process.env['MODELS'];
  else process.env['MODELS'] = before;
  rmSync(folder, { recursive: true });
});

const text = (text: string) => ({ class_type: 'CLIPTextEncode', inputs: { text, clip: ['4', 1] } });
const SDXL = {
  3: {
    class_type: 'KSampler',
    inputs: {
      seed: 5,
      steps: 25,
      cfg: 7.5,
      denoise: 1,
      positive: ['10', 0],
      negative: ['10', 1],
      latent_image: ['5', 0],
    },
  },
  4: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'sd_xl.safetensors' } },
  5: { class_type: 'EmptyLatentImage', inputs: { width: 832, height: 1216, batch_size: 1 } },
  6: text('a fox'),
  7: text('blurry'),
  9: { class_type: 'SaveImage', inputs: { filename_prefix: 'x', images: ['8', 0] } },
  10: { class_type: 'ControlNetApplyAdvanced', inputs: { positive: ['6', 0], negative: ['7', 0], strength: 1 } },
};
const FLUX = {
  1: { class_type: 'BasicGuider', inputs: { conditioning: ['2', 0] } },
  2: { class_type: 'FluxGuidance', inputs: { guidance: 3.5, conditioning: ['3', 0] } },
  3: { class_type: 'CLIPTextEncodeFlux', inputs: { clip_l: 'a fox', t5xxl: 'a fox', guidance: 3.5 } },
  4: { class_type: 'RandomNoise', inputs: { noise_seed: 7 } },
  5: { class_type: 'BasicScheduler', inputs: { steps: 4, denoise: 1 } },
};

let files = 0;
async function imported(graph: unknown, id: string, force = false) {
  const file = join(folder, `.export-${(files += 1)}`);
  writeFileSync(file, JSON.stringify(graph));
  const { seedIsTooLarge } = await importComfy(file, { id, force });
  const read = (extension: string) => readFileSync(join(folder, `${id}.${extension}`), 'utf8');
  return { declaration: load(read('yaml')) as Declaration, workflow: JSON.parse(read('json')), seedIsTooLarge };
}

it('makes slots of prompts, size, seed, steps and cfg', async () => {
  const { declaration, workflow } = await imported(SDXL, 'mine');
  expect(declaration).toMatchObject({
    id: 'mine',
    parameters: {
      prompt: {},
      negative_prompt: { default: 'blurry' },
      size: { default: '832x1216' },
      n: { maximum: 4 },
      seed: { maximum: 4_294_967_295 },
      x_steps: { type: 'integer', default: 25 },
      x_cfg: { type: 'number', default: 7.5 },
    },
    bindings: [{ provider: 'comfyui', workflow: 'mine.json', credential: null }],
  });
  expect(workflow[3].inputs).toMatchObject({ seed: '{{seed}}', steps: '{{x_steps}}', cfg: '{{x_cfg}}', denoise: 1 });
  expect(workflow[5].inputs).toEqual({ width: '{{width}}', height: '{{height}}', batch_size: '{{batch_size}}' });
  expect([workflow[6].inputs.text, workflow[7].inputs.text]).toEqual(['{{prompt}}', '{{negative_prompt}}']);
  expect(workflow[10].inputs.strength).toBe(1);
});

it('follows the guider of Flux, and takes the size of a workflow as it is where nothing says it', async () => {
  const { declaration, workflow } = await imported(FLUX, 'flux');
  expect(Object.keys(declaration.parameters)).toEqual([
    'prompt',
    'aspect_ratio',
    'resolution',
    'seed',
    'x_steps',
    'x_guidance',
  ]);
  expect(declaration.parameters.x_guidance).toMatchObject({ type: 'number', default: 3.5 });
  expect(workflow[2].inputs).toMatchObject({ guidance: '{{x_guidance}}' });
  expect(workflow[3].inputs).toEqual({ clip_l: '{{prompt}}', t5xxl: '{{prompt}}', guidance: '{{x_guidance}}' });
  expect(workflow[4].inputs).toEqual({ noise_seed: '{{seed}}' });
});

it.each([
  [4_294_967_295, false],
  [1_125_899_906_842_624, true],
])(
  'permits the largest seeds, and says whether no request can have that of the graph (%d: %s)',
  async (seed, isTooLarge) => {
    const graph = { ...FLUX, 4: { class_type: 'RandomNoise', inputs: { noise_seed: seed } } };
    const { declaration, seedIsTooLarge } = await imported(graph, 'large-seed', true);
    expect(declaration.parameters.seed).toEqual({ maximum: 4_294_967_295 });
    expect(seedIsTooLarge).toBe(isTooLarge);
  },
);

it('takes the prompt from a node of its own, and leaves a negative side without a text as it is', async () => {
  const graph = {
    58: { class_type: 'PrimitiveStringMultiline', inputs: { value: 'a fox' } },
    '57:27': { class_type: 'CLIPTextEncode', inputs: { text: ['58', 0], clip: ['57:30', 0] } },
    '57:33': { class_type: 'ConditioningZeroOut', inputs: { conditioning: ['57:27', 0] } },
    '57:3': { class_type: 'KSampler', inputs: { seed: 7, positive: ['57:27', 0], negative: ['57:33', 0] } },
  };
  const { declaration, workflow } = await imported(graph, 'primitive');
  expect(workflow[58].inputs).toEqual({ value: '{{prompt}}' });
  expect(declaration.parameters).not.toHaveProperty('negative_prompt');
});

it('keeps what is there unless it is forced', async () => {
  await imported(SDXL, 'twice');
  await expect(imported(SDXL, 'twice')).rejects.toThrow(/twice\.yaml is there already; --force replaces it/);
});

it('keeps a workflow that another model may use, unless it is forced', async () => {
  writeFileSync(join(folder, 'shared.json'), '{}');
  await expect(imported(SDXL, 'shared')).rejects.toThrow(/shared\.json is there already; --force replaces it/);
  expect(readFileSync(join(folder, 'shared.json'), 'utf8')).toBe('{}');
  expect(existsSync(join(folder, 'shared.yaml'))).toBe(false);
  expect((await imported(SDXL, 'shared', true)).workflow).toHaveProperty('3');
});

it.each([
  [{ nodes: [], links: [] }, 'a', 'is a workflow as the editor saves it; use "Export (API)" instead.'],
  [{ 1: 2 }, 'a', 'is no graph of ComfyUI.'],
  [{ 1: { class_type: 'SaveImage', inputs: {} } }, 'a', 'has no text that a sampler follows'],
  [SDXL, '../a', '"../a" is no id'],
  [SDXL, 'sora-2', 'id "sora-2" belongs to a built-in model'],
])('refuses what it cannot use (%#)', async (graph, id, message) => {
  await expect(imported(graph, id)).rejects.toThrow(message);
});
