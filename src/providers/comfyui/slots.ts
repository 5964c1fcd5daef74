import type { Workflow } from './workflow.ts';

/** The most reference images a model of ours takes. */
const MAX_IMAGES = 16;

type ImageSlot = `image_${number}` | 'first_frame';
export type Slot =
  'prompt' | 'width' | 'height' | 'seed' | 'batch_size' | 'duration' | 'frames' | 'fps' | 'image' | ImageSlot;

/** What goes into the slots of a workflow. An image is the name the server gave the upload. */
export type SlotValues = Partial<Record<Slot, string | number>>;

const IMAGE_SLOTS: readonly Slot[] = [
  ...Array.from({ length: MAX_IMAGES }, (_, i) => `image_${i + 1}` as const),
  'first_frame',
];

const SLOTS: ReadonlySet<string> = new Set<Slot>([
  ...(['prompt', 'width', 'height', 'seed', 'batch_size', 'duration', 'frames', 'fps', 'image'] as const),
  ...IMAGE_SLOTS,
]);

const SLOT = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** @param unknown called with what stands in braces but is no slot */
export function slotsOf(workflow: Workflow, unknown: (text: string) => void = () => undefined): Set<Slot> {
  const slots = new Set<Slot>();
  mapStrings(inputsOf(workflow), (text) => {
    for (const [whole, name = ''] of text.matchAll(SLOT)) {
      if (SLOTS.has(name)) slots.add(name === 'image' ? 'image_1' : (name as Slot));
      else unknown(whole);
    }
    return text;
  });
  return slots;
}

/** The images a workflow must be given: it takes these, no more and no fewer. */
export const imagesOf = (slots: Set<Slot>): Slot[] => IMAGE_SLOTS.filter((slot) => slots.has(slot));

/**
 * A copy with the values in place. A string that is one slot alone becomes the value itself, so numbers stay numbers; within
 * other text it is written out. What a value contains is never looked at again: a prompt may hold braces.
 */
export function fill(workflow: Workflow, given: SlotValues): Workflow {
  const values: Record<string, string | number | undefined> = { ...given, image: given.image_1 };
  const put = (text: string): string | number => {
    const alone = /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(text)?.[1];
    if (alone !== undefined) return values[alone] ?? text;
    return text.replaceAll(SLOT, (whole, name: string) => String(values[name] ?? whole));
  };
  return Object.fromEntries(
    Object.entries(workflow).map(([id, node]) => [
      id,
      { ...node, inputs: mapStrings(node.inputs, put) as Record<string, unknown> },
    ]),
  );
}

const inputsOf = (workflow: Workflow): unknown[] => Object.values(workflow).map(({ inputs }) => inputs);

function mapStrings(value: unknown, map: (text: string) => string | number): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, map)]));
}
