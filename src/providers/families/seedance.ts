import type { Approximation } from '../../tasks/record/task.entity.ts';
import { seedOf } from '../contract/seed.ts';
import { definitionOf, type InputImage, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';

/**
 * The images that Seedance 2.0 accepts: none, a first frame, a first and a last frame, or one or two references. The
 * model cannot combine frames with references.
 */
export type Guidance = 'text' | 'first_frame' | 'first_last' | 'references';

/** A request translated for ByteDance's Seedance 2.0, which several upstreams serve. */
export interface SeedanceShot {
  prompt: string;
  guidance: Guidance;
  /** The first frame comes before the last one. References are in the order in which the prompt mentions them. */
  images: InputImage[];
  resolution: string;
  ratio: string;
  /** Whole seconds. */
  duration: number;
  /**
   * The seed of the client. Without one, the seed derives from the task id and identifies the job in the upstream's
   * list.
   */
  seed: number;
  hasSound: boolean;
  approximations: Approximation[];
}

const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];
const RESOLUTIONS = ['720p', '1080p', '4k'];
const SECONDS = { least: 4, most: 15 };

/**
 * @param tag the text by which a prompt refers to the n-th image at this upstream
 * @throws UnsupportedRequest when Seedance cannot express a value
 */
export function seedanceShot(request: ProviderRequest, tag: (n: number) => string): SeedanceShot {
  const { input, kind, taskId } = request;
  if (kind !== 'video') throw new UnsupportedRequest('model', 'Seedance makes videos only.');
  if (input.size !== undefined) throw new UnsupportedRequest('size', 'Seedance takes no pixels.');
  const approximations: Approximation[] = [];
  return {
    ...guidanceOf(request, tag, approximations),
    resolution: resolutionOf(request),
    ratio: oneOf(RATIOS, 'aspect_ratio', input.aspect_ratio),
    duration: durationOf(request, approximations),
    seed: input.seed ?? seedOf(taskId),
    hasSound: input.generate_audio ?? true,
    approximations,
  };
}

type Guided = Pick<SeedanceShot, 'prompt' | 'guidance' | 'images'>;

function guidanceOf(request: ProviderRequest, tag: (n: number) => string, approximations: Approximation[]): Guided {
  const { input, images } = request;
  const { prompt, reference_mode: mode = 'omni' } = input;
  const first = images.firstFrame ? [images.firstFrame] : [];
  const reference = images.references.slice(0, 1);
  const hasFirst = input.first_frame_image_url !== undefined;
  const hasReference = input.reference_image_url !== undefined;
  if (mode === 'first_frame' && (!hasFirst || hasReference)) {
    throw new UnsupportedRequest('reference_mode', 'The mode needs a first frame and nothing else.');
  }
  if (!hasFirst && !hasReference) return { prompt, guidance: 'text', images: [] };
  if (!hasFirst) return { prompt, guidance: 'references', images: reference };
  if (input.last_frame_image_url !== undefined) {
    if (hasReference) throw new UnsupportedRequest('last_frame_image_url', 'Seedance takes frames or references.');
    return { prompt, guidance: 'first_last', images: [...first, ...(images.lastFrame ? [images.lastFrame] : [])] };
  }
  if (hasReference) {
    // The upstream refuses a first frame together with a reference. So both are sent as references, and the prompt says
    // which one is the first frame.
    approximations.push({ param: 'first_frame_image_url', requested: 'first_frame', used: 'reference_image' });
    const roles = `${tag(1)} is the opening frame of the video; ${tag(2)} is a reference to follow.`;
    return { prompt: `${prompt}\n\n${roles}`, guidance: 'references', images: [...first, ...reference] };
  }
  const guided = definitionOf(request)?.guidance?.loneFirstFrame[mode];
  if (!guided) throw new UnsupportedRequest('reference_mode', 'Seedance has no such mode.');
  if (guided.nearest) approximations.push({ param: 'reference_mode', requested: mode, used: guided.nearest });
  return { prompt, guidance: guided.as === 'first_frame' ? 'first_frame' : 'references', images: first };
}

function resolutionOf({ input, upstream }: ProviderRequest): string {
  const resolution = oneOf(RESOLUTIONS, 'resolution', input.resolution.toLowerCase());
  if (resolution !== '720p' && /\b(fast|mini)\b/.test(upstream.model)) {
    throw new UnsupportedRequest('resolution', 'The small variants of Seedance go up to 720p.');
  }
  return resolution;
}

function durationOf({ input, upstream }: ProviderRequest, approximations: Approximation[]): number {
  const { duration = 5 } = input;
  const used = Math.min(Math.max(duration, SECONDS.least), SECONDS.most);
  if (used === duration) return duration;
  if (upstream.durationPolicy === 'exact') {
    throw new UnsupportedRequest('duration', `Seedance makes ${SECONDS.least} to ${SECONDS.most} seconds.`);
  }
  approximations.push({ param: 'duration', requested: duration, used });
  return used;
}

function oneOf(known: readonly string[], param: string, value: string): string {
  if (!known.includes(value)) throw new UnsupportedRequest(param, `Seedance does not support ${value}.`);
  return value;
}
