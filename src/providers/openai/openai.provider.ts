import type { Approximation } from '../../tasks/task.entity.ts';
import type { PreparedRequest, Provider, ProviderOutput, ProviderRequest, Run } from '../provider.ts';
import { IMAGE_CALL_TIMEOUT_MS, makePictures, planPictures } from './openai-images.ts';
import { planFilm } from './openai-video-plan.ts';
import { cancelFilm, makeFilm } from './openai-videos.ts';

/**
 * Whoever speaks the wire of OpenAI, by base URL: Images (generations, and edits when there are reference images), and for
 * video models Videos, which OpenAI itself has shut down and other servers still speak.
 */
export class OpenaiProvider implements Provider {
  readonly name = 'openai';
  readonly synchronousKinds = ['image'] as const;

  /** @param imageTimeoutMs for the whole of an image call */
  constructor(private readonly imageTimeoutMs: number = IMAGE_CALL_TIMEOUT_MS) {}

  prepare(request: ProviderRequest): PreparedRequest {
    const approximations = this.plan(request);
    return { approximations, generate: (run) => this.generate(request, run) };
  }

  private plan(request: ProviderRequest): Approximation[] {
    return (request.kind === 'image' ? planPictures(request) : planFilm(request)).approximations;
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    run.signal.throwIfAborted();
    return request.kind === 'image' ? makePictures(request, run, this.imageTimeoutMs) : makeFilm(request, run);
  }

  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<void> {
    if (request.kind === 'video') await cancelFilm(request, upstreamId, signal);
  }
}
