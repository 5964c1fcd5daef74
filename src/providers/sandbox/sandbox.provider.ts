import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { once } from 'node:events';
import { join } from 'node:path';
import { RenderCrashed, UndecodableImage } from '@darkroom/sandbox/render-errors';
import type { RenderOrder, SourceImage } from '@darkroom/sandbox/render-order';
import { RenderPool } from '@darkroom/sandbox/render-pool';
import { pause } from '../wire/pause.ts';
import {
  type InputImage,
  type PreparedRequest,
  type Provider,
  ProviderError,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
} from '../contract/provider.ts';
import { requestedSize } from '../contract/prepare-request.ts';
import { TASK_ERRORS, type TaskErrorCode } from '../../tasks/record/task-error.ts';

/**
 * Renders pictures and films in this process from the prompt, for development and tests at no cost. The same request
 * gives the same bytes within a release. The picture of a task that repeats or varies another task also depends on the
 * id of the new task, so the two pictures differ.
 */
@Injectable()
export class SandboxProvider implements Provider, OnModuleDestroy {
  readonly name = 'sandbox';
  readonly isFree = true;
  readonly synchronousKinds = ['image', 'video'] as const;
  readonly takes = [
    'prompt',
    'aspect_ratio',
    'resolution',
    'n',
    'reference_images',
    'duration',
    'reference_mode',
    'first_frame_image_url',
    'last_frame_image_url',
    'reference_image_url',
    'generate_audio',
    'size',
    'negative_prompt',
    'seed',
    'mask',
    'strength',
    'background',
  ] as const;
  readonly takesOwn = true;
  private readonly pool = new RenderPool();

  get load(): { running: number; waiting: number } {
    return this.pool.load;
  }

  prepare(request: ProviderRequest): PreparedRequest {
    return { approximations: [], generate: (run) => this.generate(request, run) };
  }

  // This is a method, because benchmarks replace it on the prototype.
  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    run.signal.throwIfAborted();
    const directives = parseDirectives(request.input.prompt);
    await applyDirectives(directives, run.signal);
    return request.kind === 'image'
      ? this.makePictures(request, directives.text, run)
      : this.makeFilm(request, directives.text, run);
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }

  private async makePictures(request: ProviderRequest, text: string, run: Run): Promise<ProviderOutput[]> {
    const { model, input, images } = request;
    const { size } = requestedSize(request);
    const references = images.references.map((image, i) => source(image, `reference_images[${i}]`));
    const order: RenderOrder = {
      kind: 'pictures',
      model,
      text,
      size,
      references,
      count: input.n ?? 1,
      partials: run.partialImages,
      ...chosenBy(request),
      ...(images.mask && { mask: source(images.mask, 'mask') }),
      ...(input.strength !== undefined && { strength: input.strength }),
      ...(input.background === 'transparent' && { isTransparent: true }),
    };
    const pictures = await this.render(order, run);
    sentSeed(input, pictures.length, run);
    return pictures.map(asBuffer);
  }

  private async makeFilm(request: ProviderRequest, text: string, run: Run): Promise<ProviderOutput[]> {
    const { model, input, images } = request;
    const { size } = requestedSize(request);
    const path = join(run.scratchDir, 'film.mp4');
    const thumbnail = join(run.scratchDir, 'film.webp');
    const order: RenderOrder = {
      kind: 'film',
      model,
      text,
      size,
      references: images.references.map((image) => source(image, 'reference_image_url')),
      firstFrame: images.firstFrame && source(images.firstFrame, 'first_frame_image_url'),
      ...(images.lastFrame && { lastFrame: source(images.lastFrame, 'last_frame_image_url') }),
      ...(input.generate_audio === true && { hasSound: true }),
      durationSeconds: input.duration ?? 5,
      ...chosenBy(request),
      path,
      stillPath: thumbnail,
    };
    await this.render(order, run);
    sentSeed(input, 1, run);
    return [{ path, thumbnail }];
  }

  /** @throws ProviderError; the signal's reason */
  private async render(order: RenderOrder, run: Run): Promise<Uint8Array[]> {
    try {
      return await this.pool.render(
        order,
        run.signal,
        (share) => run.progress(share * 100),
        (png) => run.partialImage(asBuffer(png)),
      );
    } catch (error) {
      if (error instanceof UndecodableImage) {
        throw new ProviderError('reference_image_invalid', { param: error.param, cause: error.cause });
      }
      if (error instanceof RenderCrashed) throw new ProviderError('internal_error', { cause: error.cause });
      throw error;
    }
  }
}

/**
 * The values that choose a picture besides its prompt: the seed, the id of a variation, and facts. Facts are the
 * negative prompt and the parameters that only one model has. The sandbox can only write them into the picture.
 */
function chosenBy({ input, parentTaskId, taskId }: ProviderRequest): Pick<RenderOrder, 'seed' | 'variation' | 'facts'> {
  const said = Object.entries(input).filter(([name]) => name === 'negative_prompt' || name.startsWith('x_'));
  const facts = said
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `${name} ${value}`);
  return {
    ...(input.seed !== undefined && { seed: input.seed }),
    ...(parentTaskId && { variation: taskId }),
    ...(facts.length > 0 && { facts }),
  };
}

/**
 * Reports the seed of the client for every output, because one call makes all outputs. Without a seed of the client, it
 * reports none: the sandbox derives none, and the same request gives the same bytes.
 */
function sentSeed({ seed }: ProviderRequest['input'], outputs: number, run: Run): void {
  if (seed !== undefined) run.seeds(Array.from({ length: outputs }, () => seed));
}

/** Waits, hangs or fails, in this order, as the directives say. @throws ProviderError of #fail; the signal's reason */
async function applyDirectives({ delaySeconds, hang, fail }: Directives, signal: AbortSignal): Promise<void> {
  if (delaySeconds > 0) await pause(delaySeconds * 1000, signal);
  if (hang) {
    if (!signal.aborted) await once(signal, 'abort');
    signal.throwIfAborted();
  }
  if (fail) throw new ProviderError(fail);
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);

function source({ path }: InputImage, param: string): SourceImage {
  return { path, param };
}

/** Instructions to the sandbox in a prompt, by which integrators can test how they handle delays and failures. */
export interface Directives {
  /** The prompt without its directives: the text that is painted and written on the picture. */
  text: string;
  /** The time to wait before anything else. */
  delaySeconds: number;
  /** Whether to wait until the task is cancelled or its deadline passes. */
  hang: boolean;
  fail: TaskErrorCode | null;
}

const MAX_DELAY_SECONDS = 3600;

// A directive is a separate word. Anything else stays part of the prompt.
const DIRECTIVE = /(?<!\S)#(?:fail:(?<code>[a-z_]+)|delay:(?<seconds>\d+(?:\.\d+)?)|(?<hang>hang))(?!\S)/g;

/**
 * Reads `#fail:<task error code>`, `#delay:<seconds>` (fractions allowed, at most an hour) and `#hang` from a prompt.
 * Only the first of each kind counts. An unknown code fails the task with `internal_error`, so that a typo in a test is
 * not a success.
 */
export function parseDirectives(prompt: string): Directives {
  const found = [...prompt.matchAll(DIRECTIVE)].map((match) => match.groups ?? {});
  const code = found.find((groups) => groups['code'])?.['code'];
  const seconds = Number(found.find((groups) => groups['seconds'])?.['seconds'] ?? 0);
  return {
    text: prompt.replace(DIRECTIVE, ' ').replace(/\s+/g, ' ').trim(),
    delaySeconds: Math.min(seconds, MAX_DELAY_SECONDS),
    hang: found.some((groups) => groups['hang']),
    fail: code === undefined ? null : isTaskErrorCode(code) ? code : 'internal_error',
  };
}

function isTaskErrorCode(code: string): code is TaskErrorCode {
  return Object.hasOwn(TASK_ERRORS, code);
}
