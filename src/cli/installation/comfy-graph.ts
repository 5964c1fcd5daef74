/** A graph as "Export (API)" of ComfyUI writes it: nodes by id, whose inputs are values or links to other nodes. */
export type ComfyGraph = Record<string, ComfyNode>;

interface ComfyNode {
  class_type: string;
  inputs: Record<string, unknown>;
}

/** A graph with slots in place of some values, and the values that the slots replaced. */
export interface GraphSlots {
  workflow: ComfyGraph;
  /** The text that the slot replaced. null: the graph has no negative prompt. */
  negativePrompt: string | null;
  size: { width: number; height: number } | null;
  /** The seed that the slot replaced. JavaScript has rounded a very large one. null: the graph has no seed. */
  seed: number | null;
  hasBatch: boolean;
  steps: number | null;
  cfg: number | null;
  /**
   * The value that the slot replaced, in the input `guidance` of nodes such as FluxGuidance. null: the graph has none.
   */
  guidance: number | null;
}

/** Names of inputs that hold text. */
const TEXTS = ['text', 'prompt', 'clip_l', 'clip_g', 't5xxl', 'text_g', 'text_l', 'value'];
const SEEDS = ['seed', 'noise_seed'];
const MAX_LINKS = 100;

/**
 * Puts slots where a graph has values: the prompts that its sampler follows, width and height, the number of images,
 * seeds, steps, cfg and guidance.
 * @throws Error when the JSON is no such graph, or the graph does not show which of its texts is the prompt
 */
export function slotsIn(json: unknown): GraphSlots {
  const graph = graphOf(json);
  const workflow = structuredClone(graph);
  const nodes = Object.values(workflow);
  const guided = textsBehind(workflow, 'positive');
  const positive = guided.length > 0 ? guided : textsBehind(workflow, 'conditioning');
  const negative = textsBehind(workflow, 'negative').filter((node) => !positive.includes(node));
  const prompts = positive.length > 0 ? positive : onlyTextOf(workflow);
  for (const node of prompts) putIn(node, TEXTS, '{{prompt}}', 'string');
  const [old = null] = negative.map((node) => putIn(node, TEXTS, '{{negative_prompt}}', 'string') as string);
  const sized = nodes.filter(({ inputs }) => [inputs['width'], inputs['height']].every(isNumber));
  const latents = sized.filter(({ inputs }) => isNumber(inputs['batch_size']));
  const [first] = (latents.length > 0 ? latents : sized).map(({ inputs }) => ({
    width: inputs['width'] as number,
    height: inputs['height'] as number,
  }));
  for (const node of sized) {
    putIn(node, ['width'], '{{width}}', 'number');
    putIn(node, ['height'], '{{height}}', 'number');
  }
  return {
    workflow,
    negativePrompt: old,
    size: first ?? null,
    hasBatch: putAll(latents, ['batch_size'], '{{batch_size}}') !== null,
    seed: putAll(nodes, SEEDS, '{{seed}}'),
    steps: putAll(nodes, ['steps'], '{{x_steps}}'),
    cfg: putAll(nodes, ['cfg'], '{{x_cfg}}'),
    guidance: putAll(nodes, ['guidance'], '{{x_guidance}}'),
  };
}

function graphOf(json: unknown): ComfyGraph {
  if (typeof json !== 'object' || json === null) throw new Error('is no graph of ComfyUI');
  if (Array.isArray((json as { nodes?: unknown }).nodes)) {
    throw new Error('is a workflow as the editor saves it; use "Export (API)" instead');
  }
  const isNode = (node: unknown): node is ComfyNode =>
    typeof node === 'object' && node !== null && 'class_type' in node && 'inputs' in node;
  if (!Object.values(json).every(isNode)) throw new Error('is no graph of ComfyUI');
  return json as ComfyGraph;
}

/** The nodes with text that lead to inputs with the name `side`. */
function textsBehind(graph: ComfyGraph, side: string): ComfyNode[] {
  const starts = Object.values(graph).map(({ inputs }) => inputs[side]);
  const found = new Set<ComfyNode>();
  const seen = new Set<ComfyNode>();
  const waiting = starts.flatMap((input) => linked(graph, input));
  while (waiting.length > 0 && seen.size < MAX_LINKS) {
    const node = waiting.pop()!;
    if (seen.has(node)) continue;
    seen.add(node);
    if (TEXTS.some((name) => typeof node.inputs[name] === 'string')) found.add(node);
    // A node such as ControlNet may have an input for the positive and one for the negative side. Then only the input
    // `side` is followed.
    const inputs = side in node.inputs ? [node.inputs[side]] : Object.values(node.inputs);
    waiting.push(...inputs.flatMap((input) => linked(graph, input)));
  }
  return [...found];
}

/** @throws Error unless exactly one node of the graph has text */
function onlyTextOf(graph: ComfyGraph): ComfyNode[] {
  const texts = Object.values(graph).filter(({ inputs }) => TEXTS.some((name) => typeof inputs[name] === 'string'));
  if (texts.length === 1) return texts;
  throw new Error(
    'has no text that a sampler follows; put {{prompt}} where the prompt belongs, and declare it by hand',
  );
}

/** A link is the id of a node and the number of its output. */
const linked = (graph: ComfyGraph, input: unknown): ComfyNode[] =>
  Array.isArray(input) && Object.hasOwn(graph, String(input[0])) ? [graph[String(input[0])]!] : [];

/** @returns the first value that the slot replaced; null: no input of these names has this type */
function putIn(node: ComfyNode, names: readonly string[], slot: string, type: 'string' | 'number'): unknown {
  let old: unknown = null;
  for (const name of names) {
    if (typeof node.inputs[name] !== type) continue;
    old ??= node.inputs[name];
    node.inputs[name] = slot;
  }
  return old;
}

/** @returns the first value that a slot replaced; null: no slot was put */
function putAll(nodes: readonly ComfyNode[], names: readonly string[], slot: string): number | null {
  const found = nodes.map((node) => putIn(node, names, slot, 'number') as number | null);
  return found.find((value) => value !== null) ?? null;
}

const isNumber = (value: unknown): value is number => typeof value === 'number';
