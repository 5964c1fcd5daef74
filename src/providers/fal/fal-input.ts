import type { Approximation } from '../../tasks/task.entity.ts';
import { type ProviderRequest, UnsupportedRequest } from '../provider.ts';
import { seedanceShot } from '../families/seedance.ts';
import { dataUrl, encodedBytes } from '../wire/data-url.ts';
import { gptImageChoice } from '../families/gpt-image.ts';

/** What is sent for one generation: to which endpoint, how many times, with which inputs. */
export interface FalOrder {
  /** The endpoint, without the host. */
  endpoint: string;
  /** How many requests it takes. */
  count: number;
  /** The inputs of each, in order; images are encoded only then. */
  inputs: () => object[];
  approximations: Approximation[];
}

/** Pictures of one request. */
const MAX_IMAGES = 4;

/** Ours: the images travel in the request, which is held in memory whole. */
const MAX_REQUEST_BYTES = 100 * 1024 * 1024;

const NANO_BANANA = {
  ratios: ['auto', '21:9', '16:9', '3:2', '4:3', '5:4', '1:1', '4:5', '3:4', '2:3', '9:16'],
  resolutions: ['1K', '2K', '4K'],
};

/**
 * The request in the words of the fal model that it is bound to. `upstream.model` is the endpoint without its last segment,
 * which depends on the images.
 * @throws Unfit
 */
export function falOrder(request: ProviderRequest): FalOrder {
  const { model } = request.upstream;
  const { references, firstFrame } = request.images;
  if (encodedBytes(firstFrame ? [firstFrame, ...references] : references) > MAX_REQUEST_BYTES) {
    throw new UnsupportedRequest('reference_images', 'The images are too large to be sent together.');
  }
  if (/(^|\/)seedance/.test(model)) return seedance(request);
  if (request.kind !== 'image') throw new UnsupportedRequest('model', `fal's ${model} is not known to make videos.`);
  if (/(^|\/)gpt-image/.test(model)) return gptImage(request);
  if (/(^|\/)nano-banana/.test(model)) return nanoBanana(request);
  throw new UnsupportedRequest('model', `The inputs of fal's ${model} are not known.`);
}

function gptImage(request: ProviderRequest): FalOrder {
  const { size, approximations } = gptImageChoice(request);
  // Its default quality is the dearest one; the others bound to this model leave the choice to it.
  return pictures(request, 16, { image_size: size ?? 'auto', quality: 'auto' }, approximations);
}

function nanoBanana(request: ProviderRequest): FalOrder {
  const { aspect_ratio, resolution } = request.input;
  if (!NANO_BANANA.ratios.includes(aspect_ratio))
    throw new UnsupportedRequest('aspect_ratio', `fal has no ${aspect_ratio} here.`);
  if (!NANO_BANANA.resolutions.includes(resolution))
    throw new UnsupportedRequest('resolution', `fal has no ${resolution} here.`);
  return pictures(request, 14, { aspect_ratio, resolution }, []);
}

function pictures(
  { input, images, upstream }: ProviderRequest,
  maxReferences: number,
  look: object,
  approximations: Approximation[],
): FalOrder {
  const count = input.reference_images?.length ?? 0;
  if (count > maxReferences)
    throw new UnsupportedRequest('reference_images', `fal takes ${maxReferences} images here.`);
  const parts = split(input.n ?? 1);
  const inputs = () => {
    const urls = count > 0 ? { image_urls: images.references.map(dataUrl) } : {};
    return parts.map((num_images) => ({ prompt: input.prompt, ...look, output_format: 'png', ...urls, num_images }));
  };
  return {
    endpoint: count > 0 ? `${upstream.model}/edit` : upstream.model,
    count: parts.length,
    inputs,
    approximations,
  };
}

function seedance(request: ProviderRequest): FalOrder {
  const tag = (n: number) => `@Image${n}`;
  const { guidance, images, approximations, ...shot } = seedanceShot(request, tag);
  const input = {
    prompt: shot.prompt,
    resolution: shot.resolution,
    aspect_ratio: shot.ratio,
    duration: String(shot.duration),
    seed: shot.seed,
    generate_audio: true,
  };
  const order = (mode: string, more: (urls: string[]) => object): FalOrder => ({
    endpoint: `${request.upstream.model}/${mode}`,
    count: 1,
    inputs: () => [{ ...input, ...more(images.map(dataUrl)) }],
    approximations,
  });
  if (guidance === 'text') return order('text-to-video', () => ({}));
  if (guidance === 'first_frame') return order('image-to-video', ([image_url]) => ({ image_url }));
  // An image that the prompt does not speak of may be passed over.
  const prompt = shot.prompt.includes(tag(1)) ? shot.prompt : `${shot.prompt}\n\n${tag(1)} is a reference to follow.`;
  return order('reference-to-video', (image_urls) => ({ prompt, image_urls }));
}

/** 10 = 4 + 4 + 2 */
function split(count: number): number[] {
  const parts = Array.from({ length: Math.floor(count / MAX_IMAGES) }, () => MAX_IMAGES);
  return count % MAX_IMAGES === 0 ? parts : [...parts, count % MAX_IMAGES];
}
