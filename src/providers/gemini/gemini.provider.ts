import type { GenerateContentParameters, GoogleGenAI } from '@google/genai';
import { Logger } from '@nestjs/common';
import { userAgent } from '../../platform/outbound/user-agent.ts';
import { traces } from '../../platform/observe/traces/traces.ts';
import { withClockProgress } from '../jobs/clock-progress.ts';
import {
  ProviderError,
  UnsupportedRequest,
  type PreparedRequest,
  type Provider,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
} from '../contract/provider.ts';
import { EmbeddedPictures } from '../wire/embedded-pictures.ts';
import { encodedBytes, InlineImage } from '../wire/inline-image.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { paidCall } from '../wire/paid-call.ts';
import { WatchedCall } from '../wire/watched-call.ts';
import { NoPicture, pictureOf, tokensOf } from './gemini-answer.ts';
import { geminiFailure, refusesStore } from './gemini-errors.ts';
import { makeSeveral } from './several-pictures.ts';

const RATIOS = new Set(['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9']);
const RESOLUTIONS = new Set(['1K', '2K', '4K']);
const MAX_REFERENCES = 14;
/** Gemini accepts 20 MB per request with inline images. 0.5 MB of it is left for the text. */
const MAX_INLINE_BYTES = 19_500_000;

/** The time limit of one whole call. */
const CALL_TIMEOUT_MS = 300_000;
/** A 4K PNG of noise has 50 MB, and a third more in base64. The reply may contain the model's drafts too. */
const MAX_ANSWER_BYTES = 192 * 2 ** 20;
/** The time after which the estimated progress is 60 %. */
const TYPICAL_MS = 20_000;

interface Call {
  apiKey: string;
  baseUrl: string;
  parameters: GenerateContentParameters;
  images: InlineImage[];
}

/**
 * Google's image models through generateContent. The answer to a call contains its picture, so there is no job to poll,
 * find or cancel.
 */
export class GeminiProvider implements Provider {
  readonly name = 'gemini';
  readonly takes = ['prompt', 'aspect_ratio', 'resolution', 'n', 'reference_images'] as const;
  readonly synchronousKinds = ['image'] as const;

  private readonly logger = new Logger('providers');
  private readonly store: boolean;
  private readonly callTimeoutMs: number;
  /** The base URLs of APIs that do not know the field `store`. */
  private readonly withoutStore = new Set<string>();

  /**
   * @param store whether Google may keep requests and answers for the operator's project
   * @param callTimeoutMs the time limit of one whole call
   */
  constructor({ store = false, callTimeoutMs = CALL_TIMEOUT_MS }: { store?: boolean; callTimeoutMs?: number } = {}) {
    this.store = store;
    this.callTimeoutMs = callTimeoutMs;
  }

  prepare(request: ProviderRequest): PreparedRequest {
    assertSupported(request);
    return { approximations: [], calls: request.input.n ?? 1, generate: (run) => this.generate(request, run) };
  }

  private async generate(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
    run.signal.throwIfAborted();
    const { apiKey, baseUrl } = request.upstream;
    if (!apiKey) {
      const cause = operatorCause('gemini', null, { message: 'no API key is set' });
      throw new ProviderError('provider_rejected', { billing: 'none', cause });
    }
    const images = request.images.references.map((image) => new InlineImage(image));
    const call = { apiKey, baseUrl, parameters: parametersOf(request, images), images };
    await run.submitting();
    const count = request.input.n ?? 1;
    const { made, unknown } = await withClockProgress(run, TYPICAL_MS, () =>
      makeSeveral(count, (signal) => this.makeOne(call, signal, run), run.signal),
    );
    if (made.length < count) run.fewer(made.length, unknown);
    return made;
  }

  /**
   * Makes one picture. If a call returns no picture, the API is called once more, although the first call is billed
   * too.
   */
  private async makeOne(call: Call, signal: AbortSignal, run: Run): Promise<Buffer> {
    try {
      return await this.callOnce(call, signal, run);
    } catch (error) {
      if (!(error instanceof NoPicture)) throw error;
      signal.throwIfAborted();
      await run.callingAgain();
      return this.callOnce(call, signal, run).catch((second: unknown) => {
        // The first call was billed, so the error must not say that nothing was billed.
        throw second instanceof ProviderError && second.billing === 'none' ? error : second;
      });
    }
  }

  private async callOnce(call: Call, signal: AbortSignal, run: Run): Promise<Buffer> {
    const { baseUrl } = call;
    const isPrivate = !this.store && !this.withoutStore.has(baseUrl);
    try {
      return await this.send(isPrivate ? notStored(call) : call, signal, run);
    } catch (error) {
      if (!isPrivate || !refusesStore(error)) throw error;
      if (!this.withoutStore.has(baseUrl)) this.logger.warn({ event: 'gemini.store_not_taken', address: baseUrl });
      this.withoutStore.add(baseUrl);
      return this.send(call, signal, run);
    }
  }

  private async send(call: Call, signal: AbortSignal, run: Run): Promise<Buffer> {
    const pictures = new EmbeddedPictures('data', 1);
    const watched = new WatchedCall({
      signal,
      pictures,
      timeoutMs: this.callTimeoutMs,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      images: call.images,
    });
    const { models } = await clientFor(call, watched);
    const paid = paidCall(run, () => models.generateContent(call.parameters));
    const answer = await paid.catch((error: unknown) => {
      signal.throwIfAborted();
      throw geminiFailure(error, watched, call.apiKey);
    });
    const tokens = tokensOf(answer);
    if (tokens) run.tokens(tokens);
    return pictureOf(answer, { watched, pictures });
  }
}

/** @throws UnsupportedRequest */
function assertSupported({ kind, input, images }: ProviderRequest): void {
  const { aspect_ratio: ratio, resolution } = input;
  if (kind !== 'image') throw new UnsupportedRequest('model', 'Gemini makes pictures only.');
  if (ratio !== 'auto' && !RATIOS.has(ratio)) {
    throw new UnsupportedRequest('aspect_ratio', `Gemini supports ${[...RATIOS].join(', ')} only.`);
  }
  if (!RESOLUTIONS.has(resolution)) {
    throw new UnsupportedRequest('resolution', `Gemini supports ${[...RESOLUTIONS].join(', ')} only.`);
  }
  if (images.references.length > MAX_REFERENCES) {
    throw new UnsupportedRequest('reference_images', `Gemini takes at most ${MAX_REFERENCES} pictures.`);
  }
  if (encodedBytes(images.references) > MAX_INLINE_BYTES) {
    throw new UnsupportedRequest('reference_images', 'Gemini takes 20 MB per request.');
  }
}

/**
 * Passes every setting, because the SDK reads missing ones from the environment. Without retry options the SDK sends
 * once. The first call loads the SDK, so a service without a binding to Gemini starts faster.
 */
async function clientFor({ apiKey, baseUrl }: Call, watched: WatchedCall): Promise<GoogleGenAI> {
  const { GoogleGenAI: Client } = await import('@google/genai');
  const headers = { 'User-Agent': userAgent('generation'), ...traces.propagated };
  const httpOptions = { baseUrl, apiVersion: 'v1', headers, fetch: watched.fetch };
  return new Client({ enterprise: false, apiKey, apiVersion: 'v1', httpOptions });
}

const notStored = ({ parameters, ...call }: Call): Call => ({
  ...call,
  parameters: { ...parameters, config: { ...parameters.config, store: false } },
});

/**
 * The parameters of a call. They have tokens in place of images, so that the SDK encodes and copies little. The images
 * are read while the body is sent.
 */
function parametersOf({ input, upstream }: ProviderRequest, images: InlineImage[]): GenerateContentParameters {
  const references = images.map(({ image, token }) => ({ inlineData: { mimeType: image.contentType, data: token } }));
  // Without a ratio, Gemini uses the ratio of the first reference, or chooses one.
  const ratio = input.aspect_ratio === 'auto' ? {} : { aspectRatio: input.aspect_ratio };
  return {
    model: upstream.model,
    contents: [{ role: 'user', parts: [{ text: input.prompt }, ...references] }],
    config: { responseModalities: ['IMAGE'], imageConfig: { ...ratio, imageSize: input.resolution } },
  };
}
