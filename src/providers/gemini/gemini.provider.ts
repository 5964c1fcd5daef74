import { GoogleGenAI, type GenerateContentParameters } from '@google/genai';
import { userAgent } from '../../platform/outbound/user-agent.ts';
import {
  ProviderError,
  UnsupportedRequest,
  type Provider,
  type PreparedRequest,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
} from '../provider.ts';
import { allOrNone } from './all-or-none.ts';
import { NoPicture, pictureOf } from './gemini-answer.ts';
import { geminiFailure } from './gemini-errors.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { withClockProgress } from '../jobs/clock-progress.ts';
import { WatchedCall } from '../wire/watched-call.ts';

const RATIOS = new Set(['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']);
const SIZES = new Set(['1K', '2K', '4K']);
const MAX_REFERENCES = 14;

/** For the whole of a call. */
const CALL_TIMEOUT_MS = 300_000;
/** A 4K PNG of noise is 50 MB and a third more in base64; drafts of the model may come beside it. */
const MAX_ANSWER_BYTES = 192 * 2 ** 20;
/** For the progress shown: of most pictures two thirds are done by then. */
const TYPICAL_MS = 20_000;

/** Google's image models, by generateContent. It makes one picture a call, and there is no job to poll, find or cancel. */
export class GeminiProvider implements Provider {
  readonly name = 'gemini';
  readonly takes = ['prompt', 'aspect_ratio', 'resolution', 'n', 'reference_images'] as const;
  readonly synchronousKinds = ['image'] as const;

  /** @param callTimeoutMs for the whole of a call */
  constructor(private readonly callTimeoutMs: number = CALL_TIMEOUT_MS) {}

  prepare(request: ProviderRequest): PreparedRequest {
    const approximations = this.plan(request);
    return { approximations, generate: (run) => this.generate(request, run) };
  }

  private plan({ kind, input, images }: ProviderRequest): [] {
    if (kind !== 'image') throw new UnsupportedRequest('model', 'makes pictures only');
    if (input.aspect_ratio !== 'auto' && !RATIOS.has(input.aspect_ratio)) {
      throw new UnsupportedRequest('aspect_ratio', `makes ${[...RATIOS].join(', ')} only`);
    }
    if (!SIZES.has(input.resolution)) throw new UnsupportedRequest('resolution', `makes ${[...SIZES].join(', ')} only`);
    if (images.references.length > MAX_REFERENCES) {
      throw new UnsupportedRequest('reference_images', `takes ${MAX_REFERENCES} pictures at most`);
    }
    return [];
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    run.signal.throwIfAborted();
    const { apiKey } = request.upstream;
    if (!apiKey) {
      const cause = operatorCause('gemini', null, { message: 'no key is set' });
      throw new ProviderError('provider_rejected', { billing: 'none', cause });
    }
    const order = orderOf(request);
    await run.submitting();
    return withClockProgress(run, TYPICAL_MS, () =>
      allOrNone(request.input.n ?? 1, (signal) => this.makeOne(order, request, apiKey, signal), run.signal),
    );
  }

  /** @param again whether a model that gave no picture is asked once more */
  private async makeOne(
    order: GenerateContentParameters,
    request: ProviderRequest,
    apiKey: string,
    signal: AbortSignal,
    again = true,
  ): Promise<Buffer> {
    const watched = new WatchedCall({ signal, timeoutMs: this.callTimeoutMs, maxAnswerBytes: MAX_ANSWER_BYTES });
    const answer = await client(request.upstream.baseUrl, apiKey, watched)
      .models.generateContent(order)
      .catch((error: unknown) => {
        signal.throwIfAborted();
        throw geminiFailure(error, watched, apiKey);
      });
    try {
      return pictureOf(answer, watched);
    } catch (error) {
      if (error instanceof NoPicture && again) return this.makeOne(order, request, apiKey, signal, false);
      throw error;
    }
  }
}

/** Every setting is given, since the SDK looks for a missing one in the environment; without retry options it sends once. */
function client(baseUrl: string, apiKey: string, watched: WatchedCall): GoogleGenAI {
  const headers = { 'User-Agent': userAgent('generation') };
  const httpOptions = { baseUrl, apiVersion: 'v1', headers, fetch: watched.fetch };
  return new GoogleGenAI({ enterprise: false, apiKey, apiVersion: 'v1', httpOptions });
}

function orderOf({ input, images, upstream }: ProviderRequest): GenerateContentParameters {
  const references = images.references.map(({ bytes, contentType }) => ({
    inlineData: { mimeType: contentType, data: bytes.toString('base64') },
  }));
  // Left out, the ratio is that of the first reference, or the model's choice.
  const ratio = input.aspect_ratio === 'auto' ? {} : { aspectRatio: input.aspect_ratio };
  return {
    model: upstream.model,
    contents: [{ role: 'user', parts: [{ text: input.prompt }, ...references] }],
    config: { responseModalities: ['IMAGE'], imageConfig: { ...ratio, imageSize: input.resolution } },
  };
}
