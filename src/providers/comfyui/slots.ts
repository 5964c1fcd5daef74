import { WIDEST } from '../../models/declaration/vocabulary.ts';
import type { Workflow } from './workflow.ts';

type ImageSlot = `image_${number}` | 'first_frame' | 'last_frame' | 'mask';
export type Slot =
  | 'prompt'
  | 'width'
  | 'height'
  | 'seed'
  | 'batch_size'
  | 'duration'
  | 'frames'
  | 'kept_frames'
  | 'fps'
  | 'image'
  | ImageSlot;

/**
 * The values of a workflow's slots. The value of an image is the name that the server gave the upload. A declared model
 * also has slots for its own parameters.
 */
export type SlotValues = Partial<Record<string, string | number | boolean>>;

const REFERENCES = Array.from({ length: WIDEST.maxItems }, (_, i) => `image_${i + 1}` as const);
const IMAGE_SLOTS: readonly Slot[] = [...REFERENCES, 'first_frame', 'last_frame', 'mask'];

/** The slots of reference images. `image` is another name of `image_1`. */
export const REFERENCE_SLOTS: ReadonlySet<string> = new Set(['image', ...REFERENCES]);

const SLOTS: ReadonlySet<string> = new Set<Slot>([
  ...([
    'prompt',
    'width',
    'height',
    'seed',
    'batch_size',
    'duration',
    'frames',
    'kept_frames',
    'fps',
    'image',
  ] as const),
  ...IMAGE_SLOTS,
]);

const SLOT = /\{\{([^{}]*)\}\}/g;

/** @param unknown called with each text in braces that is not a slot */
export function slotsOf(workflow: Workflow, unknown: (text: string) => void = () => undefined): Set<Slot> {
  const slots = new Set<Slot>();
  mapStrings(inputsOf(workflow), (text) => {
    for (const [whole, content = ''] of text.matchAll(SLOT)) {
      const name = content.trim();
      if (SLOTS.has(name)) slots.add(name === 'image' ? 'image_1' : (name as Slot));
      else unknown(whole);
    }
    return text;
  });
  return slots;
}

/** The image slots of a workflow. The workflow fits a request only if the request has exactly these images. */
export const imagesOf = (slots: Set<Slot>): Slot[] => IMAGE_SLOTS.filter((slot) => slots.has(slot));

/**
 * A copy of the workflow with its slots filled. A string that consists of one slot becomes the value itself, so numbers
 * stay numbers. In any longer string, the value is inserted as text. A slot without a value stays as it is. Values are
 * not searched for slots, because a prompt may contain braces.
 */
export function fill(workflow: Workflow, given: SlotValues): Workflow {
  const values: SlotValues = { ...given, image: given.image_1 };
  const put = (text: string): string | number | boolean => {
    const alone = /^\{\{([^{}]*)\}\}$/.exec(text)?.[1];
    if (alone !== undefined) return values[alone.trim()] ?? text;
    return text.replaceAll(SLOT, (whole, name: string) => String(values[name.trim()] ?? whole));
  };
  return Object.fromEntries(
    Object.entries(workflow).map(([id, node]) => [
      id,
      { ...node, inputs: mapStrings(node.inputs, put) as Record<string, unknown> },
    ]),
  );
}

const inputsOf = (workflow: Workflow): unknown[] => Object.values(workflow).map(({ inputs }) => inputs);

function mapStrings(value: unknown, map: (text: string) => string | number | boolean): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, map)]));
}
