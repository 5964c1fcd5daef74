import type { PreparedRequest, Provider, ProviderRequest, Run } from '../provider.ts';
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
    return request.kind === 'image' ? this.preparePictures(request) : prepareFilm(request);
  }

  private preparePictures(request: ProviderRequest): PreparedRequest {
    const plan = planPictures(request);
    const generate = async (run: Run) => {
      run.signal.throwIfAborted();
      return makePictures(plan, request, run, this.imageTimeoutMs);
    };
    return { approximations: plan.approximations, generate };
  }

  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<void> {
    if (request.kind === 'video') await cancelFilm(request, upstreamId, signal);
  }
}

function prepareFilm(request: ProviderRequest): PreparedRequest {
  const { approximations } = planFilm(request);
  const generate = async (run: Run) => {
    run.signal.throwIfAborted();
    return makeFilm(request, run);
  };
  return { approximations, generate };
}
