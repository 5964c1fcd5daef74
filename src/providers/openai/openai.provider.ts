import { type PreparedRequest, type Provider, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { OF_DIALECTS } from './dialects.ts';
import { makePictures, planPictures } from './openai-images.ts';
import { openaiVideos } from './openai-videos.ts';

/**
 * Any server with OpenAI's API, at any base URL. Images: generations, and edits if there are reference images. Videos:
 * the Videos API, which OpenAI itself has shut down but other servers still offer.
 */
export const openaiProvider = {
  name: 'openai',
  takes: [...openaiVideos.takes, ...OF_DIALECTS, 'n', 'reference_images', 'quality'],
  synchronousKinds: ['image'],

  prepare(request: ProviderRequest): PreparedRequest {
    assertNoCommand(request);
    if (request.kind === 'video') return openaiVideos.prepare(request);
    const plan = planPictures(request);
    return {
      approximations: plan.approximations,
      generate: async (run) => {
        run.signal.throwIfAborted();
        return makePictures(plan, request, run);
      },
    };
  },

  async cancel(request: ProviderRequest, upstreamId: string, signal: AbortSignal): Promise<true | void> {
    if (request.kind === 'video') return openaiVideos.cancel(request, upstreamId, signal);
  },
} satisfies Provider;

const OPENAI_HOST = 'api.openai.com';
const MAY_BE_SD_SERVER = ['openai', 'litellm'];
const COMMAND = /<\s*sd_cpp_extra_args/i;

/**
 * Refuses a prompt with `<sd_cpp_extra_args>`, unless the server cannot be sd-server. sd-server reads any field of a
 * request from that part of the prompt (stable-diffusion.cpp, examples/server). So a client could change what the
 * operator has set. The server at OpenAI's own address is certainly not sd-server.
 * @throws UnsupportedRequest
 */
function assertNoCommand({ input, upstream }: ProviderRequest): void {
  if (!COMMAND.test(input.prompt) || new URL(upstream.baseUrl).hostname === OPENAI_HOST) return;
  // The binding declares another server, for which the command is plain text.
  if (!MAY_BE_SD_SERVER.includes(upstream.declared?.dialect ?? 'openai')) return;
  throw new UnsupportedRequest('prompt', 'The prompt has <sd_cpp_extra_args>, which may be a command to the server.');
}
