import { hint, nearestName, shown } from '../../models/declaration/fault.ts';
import { parameterSchemaOf } from '../../models/declaration/parameters-of.ts';
import { VOCABULARY } from '../../models/declaration/vocabulary.ts';
import { REFERENCE_SLOTS } from '../comfyui/slots.ts';
import { parseTemplate, TemplateError } from '../comfyui/template.ts';
import { eachText, slotsOf, type TemplatePath, type TemplateSlot } from '../templates/template.ts';
import type { BindingAt } from './binding-at.ts';

/**
 * Values that a template may use besides the parameters. `width`, `height` and `size` may be absent; all others are
 * always present.
 */
const FACTS = ['width', 'height', 'size', 'seed', 'n', 'model', 'task_id', 'index'] as const;
const SIZE_SLOTS: readonly string[] = ['width', 'height', 'size'];
const SIZE_PARAMETERS = ['size', 'aspect_ratio', 'resolution'];
const IMAGE_FORMS = ['data', 'base64', 'url', 'file'];
const MAX_FIELDS = 200;
const MAX_DEPTH = 32;

/** Fields that the OpenAI dialects send themselves. */
const OF_DIALECT = ['model', 'prompt', 'n', 'size', 'image', 'mask', 'response_format', 'seconds', 'input_reference'];
/** Fields by which some servers read or write a file on their own disk. A binding may not send them. */
const OF_DISK = ['output_path', 'perf_dump_path', 'video_path', 'upscaling_model_path'];

interface Template {
  path: TemplatePath;
  value: unknown;
  /** Names that only this template may use, such as `job_id`. */
  more?: readonly string[];
  isForm?: boolean;
}

/**
 * Checks the templates of a binding, and adds every fault to the file.
 * @returns the names that the templates use
 */
export function checkTemplates(where: BindingAt): Set<string> {
  const { file, binding, at } = where;
  const used = new Set<string>();
  for (const template of templatesOf(where)) {
    let fields = 0;
    eachText(
      template.value,
      (text, steps) => {
        fields += 1;
        if (steps.length > MAX_DEPTH) file.fault(steps, `is nested more than ${MAX_DEPTH} deep`);
        for (const slot of slotsOf(text)) checkSlot(where, { ...template, path: steps }, slot, used);
      },
      template.path,
    );
    if (fields > MAX_FIELDS) file.fault(template.path, `has ${fields} fields, at most ${MAX_FIELDS}`);
  }
  checkWorkflow(where, used);
  for (const field of Object.keys(binding.send ?? {})) {
    const path = ['bindings', at, 'send', field];
    if (OF_DISK.includes(field)) file.fault(path, `send may not name ${field}`, 'key');
    else if (binding.provider === 'openai' && OF_DIALECT.includes(field)) {
      file.fault(path, `send.${field} is sent by the dialect itself`, 'key');
    }
  }
  return used;
}

function templatesOf({ binding, at }: BindingAt): Template[] {
  const path = (...steps: string[]): TemplatePath => ['bindings', at, ...steps];
  const templates: Template[] = [{ path: path('send'), value: binding.send ?? {} }];
  for (const name of ['submit', 'poll', 'cancel', 'lookup'] as const) {
    const call = binding[name];
    if (!call) continue;
    const more = name === 'poll' || name === 'cancel' ? ['job_id'] : [];
    templates.push(
      { path: path(name, 'path'), value: call.path, more },
      { path: path(name, 'headers'), value: call.headers ?? {} },
      { path: path(name, 'json'), value: call.json ?? {}, more },
      { path: path(name, 'form'), value: call.form ?? {}, isForm: true },
    );
  }
  return templates;
}

/**
 * For each slot, the parameters that a workflow with this slot serves. An image slot needs no default value, because a
 * request without that image is served by a workflow without that slot.
 */
const WORKFLOW_SLOTS: Readonly<Record<string, readonly string[]>> = {
  prompt: ['prompt'],
  width: SIZE_PARAMETERS,
  height: SIZE_PARAMETERS,
  seed: ['seed', 'n'],
  batch_size: ['n'],
  duration: ['duration'],
  frames: ['duration'],
  kept_frames: ['duration'],
  fps: [],
  first_frame: ['first_frame_image_url', 'reference_mode'],
  last_frame: ['last_frame_image_url'],
  mask: ['mask'],
};
const OF_IMAGE = ['reference_images', 'reference_image_url', 'reference_mode', 'first_frame_image_url'];

function checkWorkflow(where: BindingAt, used: Set<string>): void {
  const { file, binding, at, names, workflows } = where;
  const { workflow } = binding;
  if (workflow === undefined) return;
  const path = ['bindings', at, 'workflow'];
  const before = file.faults.length;
  eachText(workflows.get(workflow), (text) => {
    for (const { name, form } of slotsOf(text)) {
      const parameters = REFERENCE_SLOTS.has(name) ? OF_IMAGE : own(WORKFLOW_SLOTS, name);
      if (parameters && form === null) parameters.forEach((parameter) => used.add(parameter));
      else if (form !== null || !names.has(name)) {
        const slot = form === null ? name : `${name}:${form}`;
        file.fault(path, `workflow ${shown(workflow)} has the unknown slot {{${slot}}}`);
      } else if (!isAlwaysThere(where, name)) {
        file.fault(path, `{{${name}}} of workflow ${shown(workflow)} may be absent; give ${shownName(name)} a default`);
      } else used.add(name);
    }
  });
  if (file.faults.length > before) return;
  try {
    parseTemplate(workflows.get(workflow), names);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    file.fault(path, `workflow ${shown(workflow)}: ${error.message}`);
  }
}

const own = <Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

function checkSlot(
  where: BindingAt,
  { path, more = [], isForm }: Template,
  slot: TemplateSlot,
  used: Set<string>,
): void {
  const { file, names } = where;
  const { name, form, isWhole } = slot;
  const isFact = (FACTS as readonly string[]).includes(name) || more.includes(name);
  if (!isFact && !names.has(name)) {
    const known = [...names, ...FACTS, ...more];
    const nearest = nearestName(name, known);
    const advice = nearest === undefined ? hint(name, known) : `; did you mean ${nearest}?`;
    return file.fault(path, `{{${name}}} is no parameter${advice}`);
  }
  used.add(name);
  if (SIZE_SLOTS.includes(name)) SIZE_PARAMETERS.forEach((parameter) => used.add(parameter));
  const isImage = !isFact && isImageParameter(where, name);
  const forms = isImage ? IMAGE_FORMS : ['text'];
  if (form !== null && !forms.includes(form)) {
    return file.fault(path, `{{${name}:${form}}} has no such form; ${name} has ${forms.join(', ')}`);
  }
  if (isImage && where.binding.provider === 'openai') {
    return file.fault(path, `{{${name}}} is an image, which the dialect sends itself`);
  }
  if (form === 'url' && ['poll', 'cancel', 'lookup'].includes(String(path[2]))) {
    return file.fault(path, `{{${name}:url}} is only for send and submit`);
  }
  if (form === 'file' && !isForm) return file.fault(path, `{{${name}:file}} is only for form`);
  if (!isWhole && !isFact && !isAlwaysThere(where, name)) {
    file.fault(path, `{{${name}}} may be absent inside a longer text; give ${shownName(name)} a default`);
  }
}

const shownName = (name: string): string => shown(name).replaceAll('"', '');

function isImageParameter({ model }: BindingAt, name: string): boolean {
  const { format, items } = parameterSchemaOf(model, name);
  return format === 'image' || items?.format === 'image';
}

/**
 * Whether every request of the binding has a value for the parameter. A parameter with `when: present` always has one.
 * Any other needs a default, and `when: present` for each parameter that it depends on. If a model takes both `size`
 * and a table of sizes, a request has either `size` or the other two size parameters. Then none of the three is
 * certain, unless `when` excludes `size`.
 */
function isAlwaysThere({ model, binding: { when = {} } }: BindingAt, name: string): boolean {
  if (name === 'prompt' || when[name] === 'present') return true;
  const needs = VOCABULARY[name]?.needs ?? [];
  const isSize = SIZE_PARAMETERS.includes(name) && model.sizes.table !== undefined && model.sizes.pixels !== undefined;
  if (isSize && when.size !== 'absent') return false;
  return parameterSchemaOf(model, name).default !== undefined && needs.every((other) => when[other] === 'present');
}
