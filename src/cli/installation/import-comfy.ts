import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { dump } from 'js-yaml';
import { type AddedModel, addModel } from './add-model.ts';
import { type GraphSlots, slotsIn } from './comfy-graph.ts';
import { MAX_SEED } from '../../models/declaration/vocabulary.ts';

interface Imported {
  id: string;
  /** The URL of the ComfyUI; missing: COMFYUI_URL. */
  baseUrl?: string | undefined;
  force?: boolean | undefined;
}

interface ImportedModel extends AddedModel {
  /** Whether the seed of the graph is larger than a request may contain: seeds of ComfyUI have 64 bits. */
  seedIsTooLarge: boolean;
}

/** The form of an id. The files of the model are named after the id. */
const ID = /^[a-z0-9][a-z0-9._-]{0,62}$/;

const MAX_STEPS = 150;
const MAX_CFG = 30;
const MAX_PICTURES = 4;
const STEP = 8;

/**
 * Writes a declaration and its workflow into the folder of models, from a graph that ComfyUI exported for its API.
 * @throws Error when the graph, or the declaration made from it, cannot be used
 */
export async function importComfy(file: string, { id, baseUrl, force }: Imported): Promise<ImportedModel> {
  if (!ID.test(id)) throw new Error(`"${id}" is no id: it has small letters, digits, ".", "_" and "-", at most 63.`);
  const slots = read(file);
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-import-'));
  try {
    const source = join(folder, `${id}.yaml`);
    writeFileSync(join(folder, `${id}.json`), `${JSON.stringify(slots.workflow, null, 2)}\n`);
    writeFileSync(source, dump(declarationOf(slots, { id, baseUrl })));
    return { ...(await addModel(source, { force })), seedIsTooLarge: (slots.seed ?? 0) > MAX_SEED };
  } catch (error) {
    throw new Error((error as Error).message.replaceAll(`${folder}/`, ''), { cause: error });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function read(file: string): GraphSlots {
  const text = readFileSync(file, 'utf8');
  try {
    return slotsIn(JSON.parse(text));
  } catch (error) {
    const fault = error instanceof SyntaxError ? 'is no JSON' : (error as Error).message;
    throw new Error(`${basename(file)} ${fault}.`, { cause: error });
  }
}

function declarationOf(slots: GraphSlots, { id, baseUrl }: Imported): object {
  const { negativePrompt, size, hasBatch, seed, steps, cfg, guidance } = slots;
  const own = (type: string, [minimum, maximum, value]: number[], description: string) => ({
    type,
    minimum,
    maximum: Math.max(maximum!, Math.ceil(value!)),
    default: value,
    description,
  });
  return {
    id,
    kind: 'image',
    description: `The ComfyUI workflow ${id}.`,
    parameters: {
      prompt: {},
      ...(negativePrompt !== null && { negative_prompt: { default: negativePrompt } }),
      ...(size ? { size: { default: `${size.width}x${size.height}` } } : { aspect_ratio: {}, resolution: {} }),
      ...(hasBatch && { n: { maximum: MAX_PICTURES } }),
      ...(seed !== null && { seed: { maximum: MAX_SEED } }),
      ...(steps !== null && { x_steps: own('integer', [1, MAX_STEPS, steps], 'Sampling steps.') }),
      ...(cfg !== null && { x_cfg: own('number', [0, MAX_CFG, cfg], 'How closely to follow the prompt.') }),
      ...(guidance !== null && {
        x_guidance: own('number', [0, MAX_CFG, guidance], 'How closely to follow the prompt.'),
      }),
    },
    sizes: size ? { pixels: pixelsAround(size) } : UNKNOWN_SIZE,
    bindings: [
      {
        provider: 'comfyui',
        workflow: `${id}.json`,
        ...(baseUrl !== undefined && { base_url: baseUrl }),
        credential: null,
      },
    ],
  };
}

/** Stands for the size of the images, which is not known here. The operator may write the real size in its place. */
const UNKNOWN_SIZE = { table: { columns: ['1K'], rows: { '1:1': ['1024x1024'] } } };

function pixelsAround({ width, height }: { width: number; height: number }): object {
  const step = width % STEP === 0 && height % STEP === 0 ? STEP : 1;
  return { step, min_side: Math.min(256, width, height), max_side: Math.max(2048, width, height) };
}
