import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ProviderError,
  type InputImage,
  type Provider,
  type PreparedRequest,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
} from '../provider.ts';
import { parseDirectives, type Directives } from './directives.ts';
import type { SourceImage } from '../../sandbox/render-order.ts';
import { RenderPool } from '../../sandbox/render-pool.ts';
import { imageSize, videoSize } from '../families/sizes.ts';

/**
 * Makes pictures and films itself, out of the prompt: for building and testing at no cost. The task's id has no part in it,
 * so the same request gives the same bytes.
 */
@Injectable()
export class SandboxProvider implements Provider, OnModuleDestroy {
  readonly name = 'sandbox';
  readonly takes = [
    'prompt',
    'aspect_ratio',
    'resolution',
    'n',
    'reference_images',
    'duration',
    'reference_mode',
    'first_frame_image_url',
    'reference_image_url',
  ] as const;
  private readonly pool = new RenderPool();

  prepare(request: ProviderRequest): PreparedRequest {
    const approximations = this.plan();
    return { approximations, generate: (run) => this.generate(request, run) };
  }

  /** It can express whatever the catalogue allows. */
  private plan(): [] {
    return [];
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    run.signal.throwIfAborted();
    const directives = parseDirectives(request.input.prompt);
    await applyDirectives(directives, run.signal);
    const { kind } = request;
    return kind === 'image'
      ? this.makePictures(request, directives.text, run)
      : this.makeFilm(request, directives.text, run);
  }

  async onModuleDestroy(): Promise<void> {
    await this.pool.close();
  }

  private async makePictures(
    { model, input, images }: ProviderRequest,
    text: string,
    run: Run,
  ): Promise<ProviderOutput[]> {
    const size = imageSize(model, input, images.references[0]);
    const references = images.references.map((image, i) => source(image, `reference_images[${i}]`));
    const pictures = await this.pool.render(
      { kind: 'pictures', model, text, size, references, count: input.n ?? 1 },
      run.signal,
      (share) => run.progress(share * 100),
    );
    return pictures.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength));
  }

  private async makeFilm({ model, input, images }: ProviderRequest, text: string, run: Run): Promise<ProviderOutput[]> {
    const path = join(run.scratchDir, 'film.mp4');
    await this.pool.render(
      {
        kind: 'film',
        model,
        text,
        size: videoSize(input),
        references: images.references.map((image) => source(image, 'reference_image_url')),
        firstFrame: images.firstFrame && source(images.firstFrame, 'first_frame_image_url'),
        durationSeconds: input.duration ?? 5,
        path,
      },
      run.signal,
      (share) => run.progress(share * 100),
    );
    return [{ path }];
  }
}

/** Waits, then hangs, then fails, as far as the prompt asks for it. @throws ProviderError of #fail, or the signal's reason */
async function applyDirectives({ delaySeconds, hang, fail }: Directives, signal: AbortSignal): Promise<void> {
  if (delaySeconds > 0) {
    await sleep(delaySeconds * 1000, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
  }
  if (hang) {
    if (!signal.aborted) await once(signal, 'abort');
    signal.throwIfAborted();
  }
  if (fail) throw new ProviderError(fail);
}

function source({ bytes }: InputImage, param: string): SourceImage {
  return { bytes, param };
}
