import type { Approximation } from '../../tasks/record/task.entity.ts';
import { definitionOf, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import type { Size } from '../../models/definition/sizes.ts';
import { requestedSize } from '../contract/prepare-request.ts';
import { type ImageRoles, imageRoles } from './image-roles.ts';
import { loadTemplate } from './load-template.ts';
import { imagesOf, type Slot, type SlotValues, slotsOf } from './slots.ts';
import { slotValues } from '../contract/slot-values.ts';
import { parseTemplate, type Template, TemplateError } from './template.ts';
import type { Workflow } from './workflow.ts';

/** A request translated for ComfyUI: the workflow, the values of its slots, the number of runs. */
export interface ComfyPlan {
  workflow: Workflow;
  /**
   * The values of the slots that are the same in all runs. Images are not included, because the server names them at
   * upload.
   */
  values: SlotValues;
  roles: ImageRoles;
  /** Number of outputs of each run. */
  counts: number[];
  /** Whether the workflow has a slot for a seed. */
  sendsSeed: boolean;
  approximations: Approximation[];
}

/** @throws UnsupportedRequest when no workflow of the template has a slot for every value of the request */
export function comfyPlan(request: ProviderRequest): ComfyPlan {
  const template = templateOf(request);
  const size = sizeOf(request, template);
  let unsupported: UnsupportedRequest | null = null;
  for (const roles of imageRoles(request)) {
    for (const workflow of template.workflows) {
      const slots = slotsOf(workflow);
      if (!sameSlots(imagesOf(slots), roles)) continue;
      try {
        const filled = valuesFor(request, template, slots, size);
        return { ...filled, workflow, roles, approximations: [...filled.approximations, ...roles.approximations] };
      } catch (error) {
        if (!(error instanceof UnsupportedRequest)) throw error;
        unsupported ??= error;
      }
    }
  }
  throw unsupported ?? new UnsupportedRequest(imageParam(request), 'no workflow takes these images');
}

function valuesFor(
  request: ProviderRequest,
  template: Template,
  slots: Set<Slot>,
  size: Size,
): Pick<ComfyPlan, 'values' | 'counts' | 'sendsSeed' | 'approximations'> {
  const { kind, input } = request;
  if (!slots.has('width') || !slots.has('height'))
    throw new UnsupportedRequest('resolution', 'the workflow has a fixed size');
  if (input.seed !== undefined && !slots.has('seed')) throw new UnsupportedRequest('seed', 'the workflow has no seed');
  const length = kind === 'video' ? lengthOf(request, template, slots) : null;
  if (!length && (slots.has('duration') || slots.has('frames')))
    throw new UnsupportedRequest('model', 'the workflow makes videos');
  return {
    values: { ...ownValues(request), prompt: input.prompt, ...size, ...length?.values },
    counts: countsOf(request, template, slots),
    sendsSeed: slots.has('seed'),
    approximations: [...sizeNotes(request, size), ...(length?.approximations ?? [])],
  };
}

/** The values of the parameters by name, as the binding maps them. Each may fill a slot of the same name. */
function ownValues(request: ProviderRequest): SlotValues {
  const valueOf = slotValues(request);
  const names = Object.keys(request.input);
  const values = names.map((name) => [name, valueOf({ name, form: null, isWhole: true })] as const);
  return Object.fromEntries(
    values.filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value)),
  ) as SlotValues;
}

/** Cache of the parsed workflows of declarations. The key is the JSON object itself. */
const declared = new WeakMap<object, Template>();

function declaredTemplate(request: ProviderRequest, name: string): Template {
  const definition = definitionOf(request);
  const json = definition?.workflows.get(name);
  if (typeof json !== 'object' || json === null) throw new TemplateError(`${name} is not there`);
  const known = declared.get(json);
  if (known) return known;
  const template = parseTemplate(json, new Set(Object.keys(definition?.parameters.properties ?? {})));
  declared.set(json, template);
  return template;
}

/** The workflow was valid at the start of the service. If its file has become invalid, the next provider is tried. */
function templateOf(request: ProviderRequest): Template {
  const { upstream, model } = request;
  const workflow = upstream.declared?.workflow;
  try {
    return workflow === undefined ? loadTemplate(upstream.model, model) : declaredTemplate(request, workflow);
  } catch (error) {
    if (error instanceof TemplateError) throw new UnsupportedRequest('model', 'the workflow file cannot be used');
    throw error;
  }
}

function sizeOf(request: ProviderRequest, { size_step = 16, max_pixels }: Template): Size {
  const { size: exact } = requestedSize(request);
  const step = (pixels: number) => Math.max(1, Math.round(pixels / size_step)) * size_step;
  const size = { width: step(exact.width), height: step(exact.height) };
  if (max_pixels !== undefined && size.width * size.height > max_pixels) {
    throw new UnsupportedRequest('resolution', `the workflow makes at most ${max_pixels} pixels`);
  }
  return size;
}

function sizeNotes(request: ProviderRequest, { width, height }: Size): Approximation[] {
  const { ratio, size: exact } = requestedSize(request);
  const { aspect_ratio: requested, resolution, size: pixels } = request.input;
  const isRounded = exact.width !== width || exact.height !== height;
  const used = `${width}x${height}`;
  if (pixels !== undefined) return isRounded ? [{ param: 'size', requested: pixels, used }] : [];
  return [
    ...(ratio === requested ? [] : [{ param: 'aspect_ratio', requested, used: ratio }]),
    ...(isRounded ? [{ param: 'resolution', requested: resolution, used }] : []),
  ];
}

/**
 * The number of outputs of each run. With a slot `batch_size`, a run makes several images; without one, a single image.
 * Every run has a seed of its own, so several runs need a slot for it.
 */
function countsOf({ input, upstream }: ProviderRequest, template: Template, slots: Set<Slot>): number[] {
  const { n = 1 } = input;
  const { max_n = n } = upstream.declared ?? {};
  const most = slots.has('batch_size') ? Math.min(n, template.max_batch ?? n, max_n) : 1;
  const counts = Array.from({ length: Math.ceil(n / most) }, (_, run) => Math.min(most, n - run * most));
  if (counts.length > 1 && !slots.has('seed'))
    throw new UnsupportedRequest('n', 'without a seed, every run makes the same image');
  return counts;
}

interface Length {
  values: SlotValues;
  approximations: Approximation[];
}

/**
 * A video has a whole number of frames. Its length counts as exact if it differs from the requested duration by at most
 * half a frame.
 */
function lengthOf({ input, upstream }: ProviderRequest, template: Template, slots: Set<Slot>): Length {
  const { frames_per_second: fps = 0, min_seconds = 0, max_seconds = Infinity } = template;
  const requested = input.duration ?? 5;
  let used = Math.min(Math.max(requested, min_seconds), max_seconds);
  let frames: Frames | undefined;
  if (slots.has('frames')) {
    frames = framesOf(used * fps, template, slots);
    used = frames.kept / fps;
  } else if (!slots.has('duration')) {
    throw new UnsupportedRequest('duration', 'the workflow has a fixed length');
  }
  const tolerance = frames ? 0.5 / fps : 0;
  const exact = Math.abs(used - requested) <= tolerance + Number.EPSILON;
  if (!exact && upstream.durationPolicy === 'exact')
    throw new UnsupportedRequest('duration', `the nearest is ${round(used)} s`);
  return {
    values: {
      duration: exact ? requested : round(used),
      frames: frames?.made,
      kept_frames: frames?.kept,
      fps: fps || undefined,
    },
    approximations: exact ? [] : [{ param: 'duration', requested, used: round(used) }],
  };
}

interface Frames {
  /** Frames that the model makes: a multiple of `frame_step`, plus one. */
  made: number;
  /** Frames that stay in the video. */
  kept: number;
}

/**
 * A workflow with `{{kept_frames}}` makes at least the requested number of frames, and cuts off the surplus. A workflow
 * without it keeps all frames, and rounds their number to the nearest step.
 */
function framesOf(requested: number, { frame_step: step = 4 }: Template, slots: Set<Slot>): Frames {
  const isCut = slots.has('kept_frames');
  const kept = Math.max(1, Math.round(requested));
  const steps = (kept - 1) / step;
  const made = Math.max(1, isCut ? Math.ceil(steps) : Math.round(steps)) * step + 1;
  return { made, kept: isCut ? kept : made };
}

const round = (seconds: number): number => Math.round(seconds * 1000) / 1000;

function sameSlots(slots: Slot[], { images }: ImageRoles): boolean {
  return slots.length === images.length && images.every(({ slot }) => slots.includes(slot));
}

function imageParam({ kind, input }: ProviderRequest): string {
  if (kind === 'image') return input.mask === undefined ? 'reference_images' : 'mask';
  if (input.last_frame_image_url !== undefined) return 'last_frame_image_url';
  return input.reference_image_url === undefined ? 'first_frame_image_url' : 'reference_image_url';
}
