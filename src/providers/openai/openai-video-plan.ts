import type { Approximation } from '../../tasks/record/task.entity.ts';
import { UnsupportedRequest, type InputImage, type ProviderRequest } from '../contract/provider.ts';
import type { Size } from '../../models/definition/sizes.ts';
import { requestedSize } from '../contract/prepare-request.ts';

/** Limits of OpenAI's own sora models. Other servers with this API accept any size and any whole number of seconds. */
const SORA = /(^|\/)sora-/;
const SORA_SECONDS = [4, 8, 12];
const SORA_SIZES: Record<string, Size> = {
  '16:9': { width: 1280, height: 720 },
  '9:16': { width: 720, height: 1280 },
};
/** Two ratios whose logarithms differ by at most this much look the same. */
const RATIO_TOLERANCE = 0.01;

export interface VideoPlan {
  size: Size;
  seconds: number;
  /** The one image that the API accepts. The video starts from it. */
  firstFrame: InputImage | null;
  approximations: Approximation[];
}

/** @throws UnsupportedRequest */
export function planVideo(request: ProviderRequest): VideoPlan {
  const { input, images } = request;
  const sora = SORA.test(request.upstream.model);
  const size = sora ? soraSize(input) : requestedSize(request).size;
  const seconds = sora ? soraSeconds(request) : (input.duration ?? 5);
  if (images.firstFrame && images.references.length > 0) {
    throw new UnsupportedRequest('reference_image_url', 'the wire accepts one image only');
  }
  const firstFrame = images.firstFrame ?? images.references[0] ?? null;
  const approximations: Approximation[] = [];
  if (input.duration !== undefined && seconds !== input.duration) {
    approximations.push({ param: 'duration', requested: input.duration, used: seconds });
  }
  if (firstFrame) approximations.push(...approximationsOf(request, firstFrame, size));
  return { size, seconds, firstFrame, approximations };
}

function approximationsOf({ input, images }: ProviderRequest, image: InputImage, size: Size): Approximation[] {
  const approximations: Approximation[] = [];
  const mode = input.reference_mode ?? 'omni';
  if (mode !== 'first_frame') approximations.push({ param: 'reference_mode', requested: mode, used: 'first_frame' });
  const stretch = image.width / image.height / (size.width / size.height);
  if (Math.abs(Math.log(stretch)) > RATIO_TOLERANCE) {
    approximations.push({
      param: images.firstFrame ? 'first_frame_image_url' : 'reference_image_url',
      requested: `${image.width}x${image.height}`,
      used: `cropped to ${size.width}x${size.height}`,
    });
  }
  return approximations;
}

function soraSize({ aspect_ratio: ratio, resolution, size: exact }: ProviderRequest['input']): Size {
  if (exact !== undefined) {
    const made = Object.values(SORA_SIZES).find(({ width, height }) => exact === `${width}x${height}`);
    if (made) return made;
    throw new UnsupportedRequest('size', 'the model makes videos in 720p only');
  }
  if (resolution.toLowerCase() !== '720p')
    throw new UnsupportedRequest('resolution', 'the model makes videos in 720p only');
  const size = SORA_SIZES[ratio];
  if (!size)
    throw new UnsupportedRequest('aspect_ratio', `the model makes ${Object.keys(SORA_SIZES).join(' and ')} only`);
  return size;
}

/**
 * The nearest supported duration in seconds. If two are equally near, it is the longer one, so that nothing requested
 * is cut off.
 * @throws UnsupportedRequest when the binding accepts exact durations only
 */
function soraSeconds({ input, upstream }: ProviderRequest): number {
  const requested = input.duration ?? 5;
  if (SORA_SECONDS.includes(requested)) return requested;
  if (upstream.durationPolicy === 'exact')
    throw new UnsupportedRequest('duration', `the model makes ${SORA_SECONDS.join(', ')} s`);
  const distance = (seconds: number) => Math.abs(seconds - requested);
  return SORA_SECONDS.reduce((best, seconds) => (distance(seconds) <= distance(best) ? seconds : best));
}
