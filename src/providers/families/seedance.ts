import { createHash } from 'node:crypto';
import type { Approximation } from '../../tasks/task.entity.ts';
import { type InputImage, type ProviderRequest, UnsupportedRequest } from '../provider.ts';

/** What Seedance 2.0 takes of images: none, one to start from, or some to follow; the model lets no two be combined. */
export type Guidance = 'text' | 'first_frame' | 'references';

/** A request in the terms of ByteDance's Seedance 2.0, whoever serves it. */
export interface SeedanceShot {
  prompt: string;
  guidance: Guidance;
  /** One for `first_frame`, one or two for `references`, in the order the prompt speaks of them. */
  images: InputImage[];
  resolution: string;
  ratio: string;
  /** Whole seconds. */
  duration: number;
  /** The task's own number: with it a job can be known again in the upstream's list. */
  seed: number;
  approximations: Approximation[];
}

const RATIOS = ['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'];
const RESOLUTIONS = ['720p', '1080p', '4k'];
const SECONDS = { least: 4, most: 15 };

/**
 * @param tag how a prompt speaks of the n-th image at the provider who serves it
 * @throws Unfit when Seedance cannot express a value
 */
export function seedanceShot(request: ProviderRequest, tag: (n: number) => string): SeedanceShot {
  const { input, kind, taskId } = request;
  if (kind !== 'video') throw new UnsupportedRequest('model', 'Seedance makes videos only.');
  const approximations: Approximation[] = [];
  return {
    ...guidanceOf(request, tag, approximations),
    resolution: resolutionOf(request),
    ratio: oneOf(RATIOS, 'aspect_ratio', input.aspect_ratio),
    duration: durationOf(request, approximations),
    seed: seedOf(taskId),
    approximations,
  };
}

/** 31 bits of the task's id: every attempt of a task asks for the same film. */
export function seedOf(taskId: string): number {
  return createHash('sha256').update(taskId).digest().readUInt32BE(0) >>> 1;
}

type Guided = Pick<SeedanceShot, 'prompt' | 'guidance' | 'images'>;

function guidanceOf(
  { model, input, images }: ProviderRequest,
  tag: (n: number) => string,
  approximations: Approximation[],
): Guided {
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
  if (hasReference) {
    // A true first frame beside a reference is refused upstream, so the prompt says which one it is.
    approximations.push({ param: 'first_frame_image_url', requested: 'first_frame', used: 'reference_image' });
    const roles = `${tag(1)} is the opening frame of the video; ${tag(2)} is a reference to follow.`;
    return { prompt: `${prompt}\n\n${roles}`, guidance: 'references', images: [...first, ...reference] };
  }
  const [guidance, nearest] = MODES[model === 'seedance-2' && mode === 'omni' ? 'first_frame' : mode] ?? [];
  if (!guidance) throw new UnsupportedRequest('reference_mode', 'Seedance has no such mode.');
  if (nearest) approximations.push({ param: 'reference_mode', requested: mode, used: nearest });
  return { prompt, guidance, images: first };
}

/**
 * What becomes of a lone first_frame_image_url: how it guides, and the mode that comes nearest where there is none such.
 * seedance-2 has a field of its own for references, so there the name of this one decides and not its omni mode.
 */
const MODES: Record<string, [Guidance, nearest?: string]> = {
  omni: ['references'],
  first_frame: ['first_frame'],
  first_last: ['first_frame', 'first_frame'], // no field brings a last frame
  multi_frame: ['references', 'omni'],
};

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
  if (!known.includes(value)) throw new UnsupportedRequest(param, `Seedance has no ${value}.`);
  return value;
}
