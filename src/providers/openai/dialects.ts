import { readFile } from 'node:fs/promises';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import { type ProviderRequest, type ResolvedInput, UnsupportedRequest } from '../contract/provider.ts';
import { seedOf } from '../contract/seed.ts';
import { hasSlot } from '../templates/template.ts';

type Parameter = keyof ResolvedInput;

/**
 * What one kind of server takes for a picture on OpenAI's wire, where servers differ. The facts are from their sources:
 * vLLM-Omni `protocol/images.py`, SGLang `image_api.py`, LocalAI `endpoints/openai/image.go`, Xinference
 * `restful_api.py`.
 */
export interface PictureDialect {
  /** Pictures of one call. */
  most: number;
  /** Parameters besides prompt, size, number and references. */
  takes: readonly Parameter[];
  /** Those that it does not take with references. */
  notWithReferences?: readonly Parameter[];
  mask?: { field: 'mask' | 'mask_image'; form: 'alpha' | 'white' };
  /** `one` field `image` of one file, a list of files, or base64 in the JSON of a generation. */
  references: 'image[]' | 'one' | 'base64';
  /** What it is sent besides. `first` is the index of the first picture of the call. */
  fields: (request: ProviderRequest, first: number) => Record<string, unknown>;
  /** A text that the server would read in another way. */
  promptOf?: (prompt: string, negative: string | undefined) => string;
}

const hasReferences = ({ images }: ProviderRequest): boolean => images.references.length > 0;

/** Servers have fixed seeds by default, so the same one would repeat a picture. */
const seed = ({ input, taskId }: ProviderRequest, first: number): number => input.seed ?? seedOf(taskId) + first;

const negative = ({ input: { negative_prompt: text } }: ProviderRequest) => text && { negative_prompt: text };

/** A preview at OpenAI, which needs a format with an alpha channel. */
const background = ({ input: { background: wanted } }: ProviderRequest) => ({
  ...(wanted !== undefined && { background: wanted }),
  ...(wanted === 'transparent' && { output_format: 'png' }),
});

const OPENAI: PictureDialect = {
  most: 10,
  takes: ['mask', 'background'],
  mask: { field: 'mask', form: 'alpha' },
  references: 'image[]',
  fields: background,
};

const DIALECTS: Readonly<Record<string, PictureDialect>> = {
  openai: OPENAI,
  litellm: OPENAI,
  'vllm-omni': {
    most: 10,
    takes: ['mask', 'seed', 'negative_prompt', 'strength'],
    mask: { field: 'mask_image', form: 'white' },
    references: 'image[]',
    fields: (request, first) => ({
      seed: seed(request, first),
      ...negative(request),
      ...(hasReferences(request) && request.input.strength !== undefined && { strength: request.input.strength }),
    }),
  },
  sglang: {
    most: 10, // more is cut silently
    takes: ['seed', 'negative_prompt'],
    references: 'image[]',
    fields: (request, first) => ({
      response_format: 'b64_json',
      seed: seed(request, first),
      ...negative(request),
      ...(hasReferences(request) && { output_format: 'png' }), // otherwise it writes JPEG
    }),
  },
  localai: {
    most: 1, // all pictures of a call get one seed
    takes: ['seed', 'negative_prompt'],
    references: 'base64',
    fields: (request, first) => ({ response_format: 'b64_json', seed: seed(request, first) }),
    // It splits the prompt at the first |, and the second part is the negative prompt.
    promptOf: (prompt, negative) => (negative ? `${withoutBar(prompt)}|${withoutBar(negative)}` : withoutBar(prompt)),
  },
  xinference: {
    most: 10,
    takes: ['mask', 'seed', 'negative_prompt'],
    notWithReferences: ['seed', 'negative_prompt'],
    mask: { field: 'mask', form: 'white' },
    references: 'one',
    fields: (request, first) => ({
      response_format: 'b64_json', // otherwise a path on its disk
      ...(!hasReferences(request) && { kwargs: JSON.stringify({ seed: seed(request, first), ...negative(request) }) }),
    }),
  },
};

/** Parameters that only some of these servers take. */
export const OF_DIALECTS: readonly Parameter[] = [...new Set(Object.values(DIALECTS).flatMap(({ takes }) => takes))];

/** Its jobs are another wire: `sd-server.ts`. */
export const OF_SD_SERVER = ['mask', 'seed', 'negative_prompt', 'strength'] as const;

/** The same for films, of the dialects that make some: parameters besides prompt, size, duration and images. */
const FILMS: Readonly<Record<string, readonly Parameter[]>> = {
  openai: [],
  litellm: [],
  'vllm-omni': ['seed', 'negative_prompt', 'generate_audio'],
  sglang: ['seed', 'negative_prompt'],
};

export const OF_FILMS: readonly Parameter[] = [...new Set(Object.values(FILMS).flat())];

/** @returns what a dialect takes besides what all of them take; null when it cannot make this kind */
export function takenBesides(dialect: string, kind: MediaKind): readonly Parameter[] | null {
  if (kind === 'video') return FILMS[dialect] ?? null;
  return dialect === 'sd-server' ? OF_SD_SERVER : (DIALECTS[dialect]?.takes ?? null);
}

/** Dialects of pictures that this adapter speaks. */
export const PICTURE_DIALECTS: ReadonlySet<string> = new Set(Object.keys(DIALECTS));

export const pictureDialectOf = ({ upstream }: ProviderRequest): PictureDialect =>
  DIALECTS[upstream.declared?.dialect ?? 'openai']!;

const BAR = '|';
const FULL_WIDTH_BAR = '\uFF5C';
const withoutBar = (text: string): string => text.replaceAll(BAR, FULL_WIDTH_BAR);

/** What the dialect cannot say is not dropped. @throws UnsupportedRequest */
export function assertTaken(request: ProviderRequest): void {
  const { takes, notWithReferences = [], references } = pictureDialectOf(request);
  const { input } = request;
  const refused = OF_DIALECTS.find(
    (param) =>
      input[param] !== undefined &&
      (!takes.includes(param) || (hasReferences(request) && notWithReferences.includes(param) && input[param] !== '')),
  );
  if (refused !== undefined) throw new UnsupportedRequest(refused, `The server does not take ${refused} here.`);
  if (references === 'one' && request.images.references.length > 1) {
    throw new UnsupportedRequest('reference_images', 'The server takes one reference image.');
  }
}

/** Whether the server is sent a seed, by its dialect or by what the binding adds. */
export function sendsSeed(request: ProviderRequest): boolean {
  const { takes, notWithReferences = [] } = pictureDialectOf(request);
  const byDialect = takes.includes('seed') && !(hasReferences(request) && notWithReferences.includes('seed'));
  return byDialect || hasSlot(request.upstream.declared?.send, 'seed');
}

/** What of a text had to be written in another way. */
export function rewritten(request: ProviderRequest): Approximation[] {
  const { promptOf } = pictureDialectOf(request);
  if (!promptOf || !request.input.prompt.includes(BAR)) return [];
  return [{ param: 'prompt', requested: BAR, used: FULL_WIDTH_BAR }];
}

/** The prompt, the dialect's own fields, and references that are part of the JSON. */
export async function dialectFields(request: ProviderRequest, first: number): Promise<Record<string, unknown>> {
  const { fields, promptOf, references } = pictureDialectOf(request);
  const { input, images } = request;
  const isInside = references === 'base64' && images.references.length > 0;
  return {
    ...(promptOf && { prompt: promptOf(input.prompt, input.negative_prompt) }),
    ...fields(request, first),
    // Bare base64: it drops anything else with a line in its log, and works without the image.
    ...(isInside && {
      ref_images: await Promise.all(
        images.references.map(async ({ path }) => (await readFile(path)).toString('base64')),
      ),
    }),
  };
}
