import { Ajv, type ValidateFunction } from 'ajv';
import { type Slot, slotsOf } from './slots.ts';
import type { Workflow } from './workflow.ts';

/** The content of a workflow file: the graphs that serve a model, and their limits. */
export interface Template {
  /** A request uses the first workflow that has a slot for each of its values. */
  workflows: Workflow[];
  /** Frame rate of the video, for workflows with `{{frames}}`. */
  frames_per_second?: number;
  /** The model makes a multiple of this number of frames, plus one. Missing: 4. */
  frame_step?: number;
  /** Width and height are rounded to a multiple of this. Missing: 16. */
  size_step?: number;
  /** The most pixels of an image or frame. Missing: no limit. */
  max_pixels?: number;
  /** The largest `{{batch_size}}`; more images take several runs. Missing: no limit. */
  max_batch?: number;
  min_seconds?: number;
  max_seconds?: number;
}

/** The workflow file cannot be used. The message tells the operator the fault in the file. */
export class TemplateError extends Error {
  override name = 'TemplateError';
}

const positive = { type: 'number', exclusiveMinimum: 0 };
const count = { type: 'integer', minimum: 1 };
const workflow = {
  type: 'object',
  minProperties: 1,
  additionalProperties: {
    type: 'object',
    required: ['class_type', 'inputs'],
    properties: { class_type: { type: 'string' }, inputs: { type: 'object' } },
  },
};

const TEMPLATE = {
  type: 'object',
  required: ['workflows'],
  additionalProperties: false,
  properties: {
    workflows: { type: 'array', minItems: 1, items: workflow },
    frames_per_second: positive,
    frame_step: count,
    size_step: count,
    max_pixels: count,
    max_batch: count,
    min_seconds: positive,
    max_seconds: positive,
  },
};

const NONE: ReadonlySet<string> = new Set();

let compiled: ValidateFunction<Template> | undefined;
/** Compiled at the first use, because most processes read no workflow file. */
const templateCheck = (): ValidateFunction<Template> => (compiled ??= new Ajv().compile<Template>(TEMPLATE));

/**
 * @param json a template, or a single workflow as ComfyUI exports it for its API
 * @param own names that slots may have besides the usual ones
 * @throws TemplateError
 */
export function parseTemplate(json: unknown, own: ReadonlySet<string> = NONE): Template {
  if (typeof json === 'object' && json !== null && Array.isArray((json as { nodes?: unknown }).nodes)) {
    throw new TemplateError('is a workflow as the editor saves it; use "Export (API)" instead');
  }
  const template = isWorkflow(json) ? { workflows: [json] } : json;
  const isTemplate = templateCheck();
  if (!isTemplate(template)) {
    const [fault] = isTemplate.errors ?? [];
    throw new TemplateError(`${fault?.instancePath || 'the file'} ${fault?.message ?? 'is not a workflow'}`);
  }
  for (const [at, graph] of template.workflows.entries()) {
    const slots = slotsOf(graph, (text) => {
      if (own.has(text.replaceAll(/[{}\s]/g, ''))) return;
      throw new TemplateError(`workflow ${at + 1} has the unknown slot ${text}`);
    });
    check(template, slots, `workflow ${at + 1}`);
  }
  return template;
}

function check(template: Template, slots: Set<Slot>, where: string): void {
  if (!slots.has('prompt')) throw new TemplateError(`${where} has no {{prompt}}`);
  if ((slots.has('frames') || slots.has('fps')) && template.frames_per_second === undefined) {
    throw new TemplateError(`${where} counts frames, but frames_per_second is not given`);
  }
  if (slots.has('kept_frames') && !slots.has('frames')) {
    throw new TemplateError(`${where} has {{kept_frames}}, but no {{frames}}`);
  }
}

function isWorkflow(json: unknown): json is Workflow {
  return typeof json === 'object' && json !== null && Object.values(json).some((node) => isNode(node));
}

function isNode(node: unknown): boolean {
  return typeof node === 'object' && node !== null && 'class_type' in node;
}
