import type { Approximation } from '../../tasks/record/task.entity.ts';
import { type ProviderRequest, type ResolvedInput, UnsupportedRequest } from '../contract/provider.ts';
import { seedanceShot } from '../families/seedance.ts';
import { dataUrl, encodedBytes, type InlineImage } from '../wire/inline-image.ts';
import { mostIn, partOf, partsOf } from '../contract/parts.ts';
import { leftToModel } from '../contract/prepare-request.ts';
import { seedAt } from '../contract/seed.ts';
import { fillTemplate, hasSlot } from '../templates/template.ts';
import { slotValuesWithImages } from '../wire/image-slots.ts';
import { gptImageChoice } from '../families/gpt-image.ts';

/** The queue requests of one generation. */
export interface FalPlan {
  /** Path of the endpoint, without a leading slash. */
  endpoint: string;
  count: number;
  /** The seed of each request; missing: no seed is sent. */
  seeds?: number[];
  /** Returns the input of one request. A task may need several requests, which are counted from 0. */
  input: (index: number) => object;
  /** The model takes a mask in the form of OpenAI: a PNG with an alpha channel. */
  takesMask?: true;
  approximations: Approximation[];
}

/** The most images that one request makes. */
const MAX_IMAGES = 4;

/**
 * A limit of this service. The request contains the images, and their upload must end within the time limit of the
 * call.
 */
const MAX_REQUEST_BYTES = 100 * 1024 * 1024;

const NANO_BANANA = {
  ratios: ['auto', '21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16'],
  resolutions: ['1K', '2K', '4K'],
};

/**
 * Translates a request for the fal model of its binding. If the binding has `send`, `upstream.model` is the whole
 * endpoint. Otherwise the translation may append a segment that depends on the images.
 * @throws UnsupportedRequest
 */
export function falPlan(request: ProviderRequest): FalPlan {
  const { model } = request.upstream;
  const { references, firstFrame, lastFrame } = request.images;
  const frames = [firstFrame, lastFrame].filter((image) => image !== null && image !== undefined);
  if (encodedBytes([...frames, ...references]) > MAX_REQUEST_BYTES) {
    throw new UnsupportedRequest('reference_images', 'The images are too large to be sent together.');
  }
  if (request.upstream.declared?.send) return declaredPlan(request, request.upstream.declared.send);
  if (/(^|\/)seedance/.test(model)) return seedance(request);
  refuse(request, ['seed']);
  if (request.kind !== 'image') throw new UnsupportedRequest('model', `fal's ${model} is not known to make videos.`);
  if (/(^|\/)gpt-image/.test(model)) return gptImage(request);
  refuse(request, ['mask', 'background', 'size']);
  if (/(^|\/)nano-banana/.test(model)) return nanoBanana(request);
  throw new UnsupportedRequest('model', `The inputs of fal's ${model} are not known.`);
}

/** Refuses parameters that only other models of fal have. @throws UnsupportedRequest */
function refuse({ input, upstream }: ProviderRequest, params: readonly (keyof ResolvedInput)[]): void {
  const refused = params.find((param) => input[param] !== undefined);
  if (refused !== undefined) throw new UnsupportedRequest(refused, `fal's ${upstream.model} does not take ${refused}.`);
}

/** The plan of a binding that writes out the whole input in `send`. */
function declaredPlan(request: ProviderRequest, send: object): FalPlan {
  const parts = partsOf(request, request.upstream.declared?.max_n ?? mostIn(send));
  const inputs = parts.map((part) => {
    const values = slotValuesWithImages(partOf(request, part), part.first);
    return (fillTemplate(send, values) ?? {}) as object;
  });
  return {
    endpoint: request.upstream.model,
    count: parts.length,
    ...(hasSlot(send, 'seed') && { seeds: parts.map(({ first }) => seedAt(request, first)) }),
    input: (index) => inputs[index]!,
    approximations: [],
  };
}

function gptImage(request: ProviderRequest): FalPlan {
  const { size, approximations } = gptImageChoice(request);
  // fal's default quality is the most expensive, so a quality is always sent.
  const { quality = 'auto', background } = request.input;
  if (background === 'transparent') throw new UnsupportedRequest('background', 'fal has no field for it.');
  return { ...imagePlan(request, 16, { image_size: size ?? 'auto', quality }, approximations), takesMask: true };
}

function nanoBanana(request: ProviderRequest): FalPlan {
  const { aspect_ratio, resolution } = request.input;
  if (!NANO_BANANA.ratios.includes(aspect_ratio))
    throw new UnsupportedRequest('aspect_ratio', `fal does not support ${aspect_ratio} for this model.`);
  if (!NANO_BANANA.resolutions.includes(resolution))
    throw new UnsupportedRequest('resolution', `fal does not support ${resolution} for this model.`);
  return imagePlan(request, 14, { aspect_ratio, resolution }, leftToModel('quality', request.input));
}

function imagePlan(
  request: ProviderRequest,
  maxReferences: number,
  settings: object,
  approximations: Approximation[],
): FalPlan {
  const { input, images, upstream } = request;
  const count = input.reference_images?.length ?? 0;
  if (count > maxReferences)
    throw new UnsupportedRequest('reference_images', `fal accepts ${maxReferences} images for this model.`);
  const parts = partsOf(request, Math.min(MAX_IMAGES, upstream.declared?.max_n ?? MAX_IMAGES));
  return {
    endpoint: count > 0 ? `${upstream.model}/edit` : upstream.model,
    count: parts.length,
    input: (index) => ({
      prompt: input.prompt,
      ...settings,
      output_format: 'png',
      ...(count > 0 ? { image_urls: images.references.map(dataUrl) } : {}),
      num_images: parts[index]!.n,
    }),
    approximations,
  };
}

function seedance(request: ProviderRequest): FalPlan {
  const tag = (n: number) => `@Image${n}`;
  const { guidance, images, approximations, ...shot } = seedanceShot(request, tag);
  const input = {
    prompt: shot.prompt,
    resolution: shot.resolution,
    aspect_ratio: shot.ratio,
    duration: String(shot.duration),
    seed: shot.seed,
    generate_audio: shot.hasSound,
  };
  const planFor = (mode: string, more: (urls: InlineImage[]) => object): FalPlan => ({
    endpoint: `${request.upstream.model}/${mode}`,
    count: 1,
    seeds: [shot.seed],
    input: () => ({ ...input, ...more(images.map(dataUrl)) }),
    approximations,
  });
  if (guidance === 'text') return planFor('text-to-video', () => ({}));
  if (guidance === 'first_frame' || guidance === 'first_last') {
    return planFor('image-to-video', ([image_url, end_image_url]) => ({
      image_url,
      ...(end_image_url && { end_image_url }),
    }));
  }
  // The model may ignore an image that the prompt does not mention.
  const prompt = shot.prompt.includes(tag(1)) ? shot.prompt : `${shot.prompt}\n\n${tag(1)} is a reference to follow.`;
  return planFor('reference-to-video', (image_urls) => ({ prompt, image_urls }));
}
