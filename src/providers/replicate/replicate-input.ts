import type { Approximation } from '../../tasks/record/task.entity.ts';
import { type InputImage, type ProviderRequest, type ResolvedInput, UnsupportedRequest } from '../contract/provider.ts';
import { seedanceShot } from '../families/seedance.ts';
import { DEFAULT_PICTURES, mostIn, partOf, partsOf } from '../contract/parts.ts';
import { leftToModel } from '../contract/prepare-request.ts';
import { seedAt } from '../contract/seed.ts';
import { slotValues } from '../contract/slot-values.ts';
import { fillTemplate, hasSlot, type SlotValue } from '../templates/template.ts';
import { imageNamesIn, imagesOf } from '../wire/image-slots.ts';
import { gptImageChoice } from '../families/gpt-image.ts';

/** The predictions of one generation. */
export interface ReplicatePlan {
  count: number;
  /** The seed of each prediction; missing: no seed is sent. */
  seeds?: number[];
  /** The images of the request. They are uploaded first, and `input` takes their URLs in the same order. */
  images: readonly InputImage[];
  /**
   * The input of the prediction of this index.
   * @param urls the URLs of `images`
   */
  input: (urls: readonly string[], index: number) => object;
  approximations: Approximation[];
}

/** Values of aspect_ratio for gpt-image-2: ratios in 1K, pixels in 2K and 4K. */
const GPT_IMAGE = {
  ratios: ['auto', '1:1', '3:2', '2:3', '4:3', '3:4', '16:9', '9:16'],
  pixels: ['2048x2048', '2048x1152', '1152x2048', '3840x2160', '2160x3840'],
};

const NANO_BANANA = {
  ratios: ['21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16'],
  resolutions: ['1K', '2K', '4K'],
};

/** The longest prompt of Seedance, in code points. */
const MAX_SEEDANCE_PROMPT = 4_000;

/**
 * Translates a request for the Replicate model of its binding.
 * @throws UnsupportedRequest
 */
export function replicatePlan(request: ProviderRequest): ReplicatePlan {
  const { model } = request.upstream;
  if (request.upstream.declared?.send) return declaredPlan(request, request.upstream.declared.send);
  if (/(^|\/)seedance/.test(model)) return seedance(request);
  refuse(request, ['seed']);
  if (request.kind !== 'image')
    throw new UnsupportedRequest('model', `Replicate's ${model} is not known to make videos.`);
  if (/(^|\/)gpt-image/.test(model)) return gptImage(request);
  refuse(request, ['background']);
  if (/(^|\/)nano-banana/.test(model)) return nanoBanana(request);
  throw new UnsupportedRequest('model', `The inputs of Replicate's ${model} are not known.`);
}

/** Refuses parameters that only other models of Replicate have. @throws UnsupportedRequest */
function refuse({ input, upstream }: ProviderRequest, params: readonly (keyof ResolvedInput)[]): void {
  const refused = params.find((param) => input[param] !== undefined);
  if (refused === undefined) return;
  throw new UnsupportedRequest(refused, `Replicate's ${upstream.model} does not take ${refused}.`);
}

/** The plan of a binding that writes out the whole input in `send`. */
function declaredPlan(request: ProviderRequest, send: object): ReplicatePlan {
  const parts = partsOf(request, request.upstream.declared?.max_n ?? mostIn(send));
  const others = parts.map((part) => slotValues(partOf(request, part), part.first));
  // Throws before anything is sent if the binding does not map a value. The images have no URLs yet, so their slots
  // stay empty.
  for (const valueOf of others)
    fillTemplate(send, (slot) => (imagesOf(request, slot.name) ? undefined : valueOf(slot)));
  const names = imageNamesIn(send);
  return {
    count: parts.length,
    ...(hasSlot(send, 'seed') && { seeds: parts.map(({ first }) => seedAt(request, first)) }),
    images: names.flatMap((name) => imagesOf(request, name) ?? []),
    input: (urls, index) => {
      const left = [...urls];
      const byName = new Map(names.map((name) => [name, left.splice(0, imagesOf(request, name)?.length ?? 0)]));
      const valueOf: SlotValue = (slot) => {
        const own = byName.get(slot.name);
        if (!own) return others[index]!(slot);
        return slot.name === 'reference_images' && own.length > 0 ? own : own[0];
      };
      return (fillTemplate(send, valueOf) ?? {}) as object;
    },
    approximations: [],
  };
}

function gptImage(request: ProviderRequest): ReplicatePlan {
  const { input, images } = request;
  const { ratio, approximations } = gptImageRatio(request);
  const parts = partsOf(request, request.upstream.declared?.max_n ?? DEFAULT_PICTURES);
  return {
    count: parts.length,
    images: atMost(16, images.references),
    input: (urls, index) => ({
      prompt: input.prompt,
      aspect_ratio: ratio,
      quality: input.quality ?? 'auto',
      number_of_images: parts[index]!.n,
      output_format: 'png',
      ...(input.background !== undefined && { background: input.background }),
      ...(urls.length > 0 ? { input_images: urls } : {}),
    }),
    approximations,
  };
}

function gptImageRatio(request: ProviderRequest): { ratio: string; approximations: Approximation[] } {
  const { aspect_ratio, resolution } = request.input;
  if (resolution === '1K') {
    if (!GPT_IMAGE.ratios.includes(aspect_ratio))
      throw new UnsupportedRequest('aspect_ratio', `Replicate does not support ${aspect_ratio} for this model.`);
    return { ratio: aspect_ratio, approximations: [] };
  }
  const { size, approximations } = gptImageChoice(request, ({ width, height }) =>
    GPT_IMAGE.pixels.includes(`${width}x${height}`),
  );
  return { ratio: size ? `${size.width}x${size.height}` : 'auto', approximations };
}

function nanoBanana({ input, images, upstream }: ProviderRequest): ReplicatePlan {
  const { aspect_ratio, resolution, prompt, n = 1 } = input;
  const isPro = upstream.model.includes('pro');
  const approximations: Approximation[] = leftToModel('quality', input);
  if (!NANO_BANANA.resolutions.includes(resolution))
    throw new UnsupportedRequest('resolution', `Replicate does not support ${resolution} for this model.`);
  const ratio = () => {
    if (NANO_BANANA.ratios.includes(aspect_ratio)) return aspect_ratio;
    if (aspect_ratio !== 'auto')
      throw new UnsupportedRequest('aspect_ratio', `Replicate does not support ${aspect_ratio} for this model.`);
    if ((input.reference_images?.length ?? 0) > 0) return 'match_input_image';
    if (!isPro) return undefined; // without a ratio the model chooses one, but the pro model expects an image
    approximations.push({ param: 'aspect_ratio', requested: 'auto', used: '1:1' });
    return '1:1';
  };
  const used = ratio();
  return {
    count: n,
    images: atMost(14, images.references),
    input: (urls) => ({
      prompt,
      ...(used === undefined ? {} : { aspect_ratio: used }),
      resolution,
      output_format: 'png',
      ...(urls.length > 0 ? { image_input: urls } : {}),
      ...(isPro ? { allow_fallback_model: false } : {}),
    }),
    approximations,
  };
}

function seedance(request: ProviderRequest): ReplicatePlan {
  const { guidance, images, approximations, ...shot } = seedanceShot(request, (n) => `[Image${n}]`);
  if ([...shot.prompt].length > MAX_SEEDANCE_PROMPT) {
    throw new UnsupportedRequest('prompt', `Replicate accepts ${MAX_SEEDANCE_PROMPT} characters for this model.`);
  }
  return {
    count: 1,
    seeds: [shot.seed],
    images,
    input: (urls) => ({
      prompt: shot.prompt,
      resolution: shot.resolution,
      aspect_ratio: shot.ratio,
      duration: shot.duration,
      seed: shot.seed,
      generate_audio: shot.hasSound,
      ...(guidance === 'first_frame' || guidance === 'first_last' ? { image: urls[0] } : {}),
      ...(guidance === 'first_last' ? { last_frame_image: urls[1] } : {}),
      ...(guidance === 'references' ? { reference_images: urls } : {}),
    }),
    approximations,
  };
}

function atMost(most: number, images: readonly InputImage[]): readonly InputImage[] {
  if (images.length > most)
    throw new UnsupportedRequest('reference_images', `Replicate accepts ${most} images for this model.`);
  return images;
}
