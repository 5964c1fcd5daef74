import { Ajv } from 'ajv';
import { type Slot, slotsOf } from './slots.ts';
import type { Workflow } from './workflow.ts';

/** What a workflow file says: the graphs a model may be served with, and what they can do. */
export interface Template {
  /** The first that has a slot for everything a request brings is taken. */
  workflows: Workflow[];
  /** Of the video, where a workflow counts it in `{{frames}}`. */
  frames_per_second?: number;
  /** Such video models make a multiple of this many frames, and one; 4 when absent. */
  frame_step?: number;
  /** Width and height are rounded to a multiple of it; 16 when absent. */
  size_step?: number;
  /** The largest picture or frame; no bound when absent. */
  max_pixels?: number;
  /** The largest `{{batch_size}}`; more pictures are made in several runs. No bound when absent. */
  max_batch?: number;
  min_seconds?: number;
  max_seconds?: number;
}

/** The workflow file cannot be used. For the operator: the message names the file's fault. */
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

const isTemplate = new Ajv().compile<Template>({
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
});

/**
 * @param json a template, or a single workflow as ComfyUI exports it for its API
 * @throws TemplateError
 */
export function parseTemplate(json: unknown): Template {
  if (typeof json === 'object' && json !== null && Array.isArray((json as { nodes?: unknown }).nodes)) {
    throw new TemplateError('is a workflow as the editor saves it; use "Export (API)" instead');
  }
  const template = isWorkflow(json) ? { workflows: [json] } : json;
  if (!isTemplate(template)) {
    const [fault] = isTemplate.errors ?? [];
    throw new TemplateError(`${fault?.instancePath || 'the file'} ${fault?.message ?? 'is not a workflow'}`);
  }
  for (const [at, graph] of template.workflows.entries()) {
    const slots = slotsOf(graph, (text) => {
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
}

function isWorkflow(json: unknown): json is Workflow {
  return typeof json === 'object' && json !== null && Object.values(json).some((node) => isNode(node));
}

function isNode(node: unknown): boolean {
  return typeof node === 'object' && node !== null && 'class_type' in node;
}
