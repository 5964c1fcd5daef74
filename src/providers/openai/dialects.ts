import { readFile } from 'node:fs/promises';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import { type ProviderRequest, type ResolvedInput, UnsupportedRequest } from '../contract/provider.ts';
import { seedOf } from '../contract/seed.ts';
import { hasSlot } from '../templates/template.ts';

type Parameter = keyof ResolvedInput;

/**
 * What one kind of server accepts in a request for pictures in OpenAI's format, as far as servers differ. The facts are
 * from the source code of the servers: vLLM-Omni `protocol/images.py`, SGLang `image_api.py`, LocalAI
 * `endpoints/openai/image.go`, Xinference `restful_api.py`.
 */
export interface PictureDialect {
  /** The most pictures of one call. */
  most: number;
  /** The parameters that the server accepts besides prompt, size, number and references. */
  takes: readonly Parameter[];
  /** The parameters of `takes` that the server does not accept together with references. */
  notWithReferences?: readonly Parameter[];
  mask?: { field: 'mask' | 'mask_image'; form: 'alpha' | 'white' };
  /** `one`: a field `image` with one file. `image[]`: a list of files. `base64`: text in the JSON of a generation. */
  references: 'image[]' | 'one' | 'base64';
  /** The fields that are sent besides the common ones. `first` is the index of the first picture of the call. */
  fields: (request: ProviderRequest, first: number) => Record<string, unknown>;
  /** Writes the prompt and the negative prompt as one text for this server. Missing: the prompt is sent unchanged. */
  promptOf?: (prompt: string, negative: string | undefined) => string;
}

const hasReferences = ({ images }: ProviderRequest): boolean => images.references.length > 0;

/**
 * The seed of a call. It is sent even if the client gives none, because by default servers use a fixed seed and would
 * repeat a picture.
 */
const seed = ({ input, taskId }: ProviderRequest, first: number): number => input.seed ?? seedOf(taskId) + first;

const negative = ({ input: { negative_prompt: text } }: ProviderRequest) => text && { negative_prompt: text };

/** The background. A transparent one is a preview feature at OpenAI, and needs a format with an alpha channel. */
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
    most: 10, // SGLang silently drops any further picture
    takes: ['seed', 'negative_prompt'],
    references: 'image[]',
    fields: (request, first) => ({
      response_format: 'b64_json',
      seed: seed(request, first),
      ...negative(request),
      ...(hasReferences(request) && { output_format: 'png' }), // otherwise SGLang writes JPEG
    }),
  },
  localai: {
    most: 1, // LocalAI would use one seed for all pictures of a call
    takes: ['seed', 'negative_prompt'],
    references: 'base64',
    fields: (request, first) => ({ response_format: 'b64_json', seed: seed(request, first) }),
    // LocalAI splits the prompt at the first |, and reads the second part as the negative prompt.
    promptOf: (prompt, negative) => (negative ? `${withoutBar(prompt)}|${withoutBar(negative)}` : withoutBar(prompt)),
  },
  xinference: {
    most: 10,
    takes: ['mask', 'seed', 'negative_prompt'],
    notWithReferences: ['seed', 'negative_prompt'],
    mask: { field: 'mask', form: 'white' },
    references: 'one',
    fields: (request, first) => ({
      response_format: 'b64_json', // otherwise the answer has a path on the disk of the server
      ...(!hasReferences(request) && { kwargs: JSON.stringify({ seed: seed(request, first), ...negative(request) }) }),
    }),
  },
};

/** Parameters that only some dialects take. */
export const OF_DIALECTS: readonly Parameter[] = [...new Set(Object.values(DIALECTS).flatMap(({ takes }) => takes))];

/** Parameters of sd-server, whose jobs have another format: `sd-server.ts`. */
export const OF_SD_SERVER = ['mask', 'seed', 'negative_prompt', 'strength'] as const;

/** Parameters that the dialects accept for films, besides prompt, size, duration and images. */
const FILMS: Readonly<Record<string, readonly Parameter[]>> = {
  openai: [],
  litellm: [],
  'vllm-omni': ['seed', 'negative_prompt', 'generate_audio'],
  sglang: ['seed', 'negative_prompt'],
};

export const OF_FILMS: readonly Parameter[] = [...new Set(Object.values(FILMS).flat())];

/**
 * @returns the parameters that a dialect accepts besides those that all dialects accept; null when it cannot make this
 *   kind
 */
export function takenBesides(dialect: string, kind: MediaKind): readonly Parameter[] | null {
  if (kind === 'video') return FILMS[dialect] ?? null;
  return dialect === 'sd-server' ? OF_SD_SERVER : (DIALECTS[dialect]?.takes ?? null);
}

/** The dialects for pictures that are described above. sd-server is not among them. */
export const PICTURE_DIALECTS: ReadonlySet<string> = new Set(Object.keys(DIALECTS));

export const pictureDialectOf = ({ upstream }: ProviderRequest): PictureDialect =>
  DIALECTS[upstream.declared?.dialect ?? 'openai']!;

const BAR = '|';
const FULL_WIDTH_BAR = '\uFF5C';
const withoutBar = (text: string): string => text.replaceAll(BAR, FULL_WIDTH_BAR);

/** Refuses parameters that the dialect does not accept, so that none is dropped. @throws UnsupportedRequest */
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

/** Whether a seed is sent to the server, by its dialect or by `send` of the binding. */
export function sendsSeed(request: ProviderRequest): boolean {
  const { takes, notWithReferences = [] } = pictureDialectOf(request);
  const byDialect = takes.includes('seed') && !(hasReferences(request) && notWithReferences.includes('seed'));
  return byDialect || hasSlot(request.upstream.declared?.send, 'seed');
}

/** The record of the texts that had to be changed for the dialect. */
export function rewritten(request: ProviderRequest): Approximation[] {
  if (!pictureDialectOf(request).promptOf) return [];
  const texts = ['prompt', 'negative_prompt'] as const;
  return texts
    .filter((param) => request.input[param]?.includes(BAR))
    .map((param) => ({ param, requested: BAR, used: FULL_WIDTH_BAR }));
}

/** The prompt, the dialect's own fields, and references that are part of the JSON. */
export async function dialectFields(request: ProviderRequest, first: number): Promise<Record<string, unknown>> {
  const { fields, promptOf, references } = pictureDialectOf(request);
  const { input, images } = request;
  const isInside = references === 'base64' && images.references.length > 0;
  return {
    ...(promptOf && { prompt: promptOf(input.prompt, input.negative_prompt) }),
    ...fields(request, first),
    // LocalAI wants bare base64. It drops anything else with a line in its log, and works without the image.
    ...(isInside && {
      ref_images: await Promise.all(
        images.references.map(async ({ path }) => (await readFile(path)).toString('base64')),
      ),
    }),
  };
}
