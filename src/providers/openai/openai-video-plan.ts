import type { Approximation } from '../../tasks/task.entity.ts';
import { UnsupportedRequest, type InputImage, type ProviderRequest } from '../provider.ts';
import { videoSize, type Size } from '../families/sizes.ts';

/** What OpenAI's own sora models took. Other servers on this wire take any size and any whole number of seconds. */
const SORA = /(^|\/)sora-/;
const SORA_SECONDS = [4, 8, 12];
const SORA_SIZES: Record<string, Size> = {
  '16:9': { width: 1280, height: 720 },
  '9:16': { width: 720, height: 1280 },
};
/** Ratios this near are the same to the eye. */
const RATIO_TOLERANCE = 0.01;

export interface VideoPlan {
  size: Size;
  seconds: number;
  /** The wire has one slot for a picture, and the film starts from it. */
  firstFrame: InputImage | null;
  approximations: Approximation[];
}

/** @throws Unfit */
export function planVideo(request: ProviderRequest): VideoPlan {
  const { input, images } = request;
  const sora = SORA.test(request.upstream.model);
  const size = sora ? soraSize(input) : videoSize(input);
  const seconds = sora ? soraSeconds(request) : (input.duration ?? 5);
  if (images.firstFrame && images.references.length > 0) {
    throw new UnsupportedRequest('reference_image_url', 'the wire takes one picture only');
  }
  const firstFrame = images.firstFrame ?? images.references[0] ?? null;
  const approximations: Approximation[] = [];
  if (input.duration !== undefined && seconds !== input.duration) {
    approximations.push({ param: 'duration', requested: input.duration, used: seconds });
  }
  if (firstFrame) approximations.push(...nearTo(request, firstFrame, size));
  return { size, seconds, firstFrame, approximations };
}

function nearTo({ input, images }: ProviderRequest, picture: InputImage, size: Size): Approximation[] {
  const near: Approximation[] = [];
  const mode = input.reference_mode ?? 'omni';
  if (mode !== 'first_frame') near.push({ param: 'reference_mode', requested: mode, used: 'first_frame' });
  const stretch = picture.width / picture.height / (size.width / size.height);
  if (Math.abs(Math.log(stretch)) > RATIO_TOLERANCE) {
    near.push({
      param: images.firstFrame ? 'first_frame_image_url' : 'reference_image_url',
      requested: `${picture.width}x${picture.height}`,
      used: `cropped to ${size.width}x${size.height}`,
    });
  }
  return near;
}

function soraSize({ aspect_ratio: ratio, resolution }: ProviderRequest['input']): Size {
  if (resolution.toLowerCase() !== '720p')
    throw new UnsupportedRequest('resolution', 'the model makes films in 720p only');
  const size = SORA_SIZES[ratio];
  if (!size)
    throw new UnsupportedRequest('aspect_ratio', `the model makes ${Object.keys(SORA_SIZES).join(' and ')} only`);
  return size;
}

/** Half-way between two, the longer: nothing that was asked for is cut off. */
function soraSeconds({ input, upstream }: ProviderRequest): number {
  const wanted = input.duration ?? 5;
  if (SORA_SECONDS.includes(wanted)) return wanted;
  if (upstream.durationPolicy === 'exact')
    throw new UnsupportedRequest('duration', `the model makes ${SORA_SECONDS.join(', ')} s`);
  const distance = (seconds: number) => Math.abs(seconds - wanted);
  return SORA_SECONDS.reduce((best, seconds) => (distance(seconds) <= distance(best) ? seconds : best));
}
