import { openAsBlob } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import { withClockProgress } from '../jobs/clock-progress.ts';
import {
  afterAccepted,
  ProviderError,
  UnsupportedRequest,
  type InputImage,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
  type Upstream,
} from '../contract/provider.ts';
import { type Part, partOf, partsOf } from '../contract/parts.ts';
import { leftToModel, requestedSize } from '../contract/prepare-request.ts';
import { seedAt } from '../contract/seed.ts';
import { gptImageOptions } from '../families/gpt-image.ts';
import { extraFields } from '../contract/slot-values.ts';
import { alphaMask } from '../wire/alpha-mask.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { EmbeddedPictures } from '../wire/embedded-pictures.ts';
import { field, number } from '../wire/reply-schema.ts';
import { reportedTokens } from '../wire/reported-tokens.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { paidCall } from '../wire/paid-call.ts';
import { WatchedCall } from '../wire/watched-call.ts';
import { noResult } from '../wire/without-answer.ts';
import { openaiClient } from './openai-client.ts';
import { failedJob, openaiFailure } from './openai-errors.ts';
import { assertTaken, dialectFields, pictureDialectOf, rewritten, sendsSeed } from './dialects.ts';
import { PictureStream } from './openai-stream.ts';

/**
 * The time limit of a call. OpenAI documents two minutes for a complex prompt. A picture in 4K may take longer, and so
 * may another server.
 */
const IMAGE_CALL_TIMEOUT_MS = 600_000;
/** A 4K PNG of noise is 33 MB, and 44 MB in base64. */
const MAX_BYTES_PER_PICTURE = 48 * 2 ** 20;
/** The most bytes of an answer: a string in Node has at most 512 MiB. */
const MAX_ANSWER_BYTES = 480 * 2 ** 20;
const DOWNLOAD_RETRY_MS = 2_000;
/** The time after which the estimated progress is 60 %. */
const TYPICAL_MS = 40_000;

/**
 * gpt-image-1, gpt-image-1.5 and chatgpt-image make only three sizes. gpt-image-2 and later make any size in multiples
 * of 16.
 */
const PRESET_MODELS = /(^|\/)(gpt-image-1(?!\d)|chatgpt-image)/;
const PRESETS: Record<string, string> = { '1:1': '1024x1024', '3:2': '1536x1024', '2:3': '1024x1536' };
const GPT_MODELS = /(^|\/)(gpt-image-|chatgpt-image)/;

type Quality = 'low' | 'medium' | 'high';

interface Plan {
  /** `auto`, or width x height. */
  size: string;
  /** Missing: the model chooses. */
  quality?: Quality;
  approximations: Approximation[];
}

/** @throws UnsupportedRequest */
export function planPictures(request: ProviderRequest): Plan {
  assertTaken(request);
  const chosen = sizeOf(request);
  const { size } = chosen;
  const approximations = [...chosen.approximations, ...rewritten(request)];
  // Throws now, before any paid call, if the binding does not map a value of one of the calls.
  for (const part of callsOf(request)) extraFields(partOf(request, part), part.first);
  // Models of other vendors have other values for quality, or no quality.
  if (!GPT_MODELS.test(request.upstream.model)) {
    return { size, approximations: [...approximations, ...leftToModel('quality', request.input)] };
  }
  const { quality = 'auto' } = request.input;
  return { size, approximations, ...(quality !== 'auto' && { quality: quality as Quality }) };
}

function sizeOf(request: ProviderRequest): Plan {
  const { input, upstream } = request;
  if (input.size !== undefined) {
    if (PRESET_MODELS.test(upstream.model) && !Object.values(PRESETS).includes(input.size)) {
      throw new UnsupportedRequest('size', `The model makes ${Object.values(PRESETS).join(', ')} only.`);
    }
    return { size: input.size, approximations: [] };
  }
  const auto = input.aspect_ratio === 'auto';
  if (auto && input.resolution === '1K' && GPT_MODELS.test(upstream.model)) return { size: 'auto', approximations: [] };
  if (PRESET_MODELS.test(upstream.model)) return { size: presetSize(input), approximations: [] };

  // With `auto`, OpenAI would choose the size too. So for a fixed resolution, the ratio is chosen here.
  const { ratio, size } = requestedSize(request, GPT_MODELS.test(upstream.model) ? gptImageOptions(request) : {});
  return {
    size: `${size.width}x${size.height}`,
    approximations: auto ? [{ param: 'aspect_ratio', requested: 'auto', used: ratio }] : [],
  };
}

/** The calls that make the pictures of a request: one, if the server and the binding allow it. */
function callsOf(request: ProviderRequest): Part[] {
  const { most } = pictureDialectOf(request);
  return partsOf(request, Math.min(most, request.upstream.declared?.max_n ?? most));
}

/**
 * Makes the pictures of a request, by one call or by several. There is no job to poll, find or cancel.
 * @returns the pictures that were made, in order, which may be fewer than requested
 * @throws ProviderError when a call makes no picture
 */
export async function makePictures(
  plan: Plan,
  request: ProviderRequest,
  run: Run,
  timeoutMs = IMAGE_CALL_TIMEOUT_MS,
): Promise<ProviderOutput[]> {
  const made: ProviderOutput[] = [];
  const seeds: number[] = [];
  for (const part of callsOf(request)) {
    if (part.first > 0) await run.callingAgain();
    const pictures = await callFor(plan, partOf(request, part), run, { timeoutMs, first: part.first }).catch(
      (error: unknown) => {
        // The earlier calls are paid. So no other binding may be asked, and the task must not begin again.
        throw part.first > 0 && error instanceof ProviderError ? afterAccepted(error) : error;
      },
    );
    made.push(...pictures);
    seeds.push(...pictures.map(() => seedAt(request, part.first)));
  }
  if (made.length < (request.input.n ?? 1)) run.fewer(made.length, 0);
  if (sendsSeed(request)) run.seeds(seeds);
  return made;
}

async function callFor(
  { size, quality }: Plan,
  request: ProviderRequest,
  run: Run,
  { timeoutMs, first }: { timeoutMs: number; first: number },
): Promise<ProviderOutput[]> {
  const { input, images, upstream } = request;
  const count = input.n ?? 1;
  const own = await dialectFields(request, first);
  const basic = { model: upstream.model, prompt: input.prompt, n: count, size, ...(quality && { quality }) };
  const body = { ...basic, ...own, ...extraFields(request, first) };
  // OpenAI's events do not say to which of several pictures they belong, so a run asks for stages only if it makes one
  // picture.
  const partials = GPT_MODELS.test(upstream.model) ? run.partialImages : 0;
  const stream = partials > 0 ? new PictureStream((base64) => run.partialImage(decode(base64))) : null;
  const { references, mask } = pictureDialectOf(request);
  const files = references === 'base64' ? [] : await Promise.all(images.references.map(asFile));
  const masked = mask && images.mask ? { [mask.field]: await maskFile(images.mask, mask.form) } : {};
  if (first === 0) await run.submitting();
  const embedded = new EmbeddedPictures('b64_json', count);
  const watched = new WatchedCall({
    signal: run.signal,
    timeoutMs,
    pictures: embedded,
    ...(stream && { onEventStream: stream.read }),
    maxAnswerBytes: Math.min(MAX_ANSWER_BYTES, (count + partials) * MAX_BYTES_PER_PICTURE + 2 ** 20),
  });
  const { images: api } = await openaiClient(upstream, watched);
  const paid = async () => {
    try {
      // Unless the dialect takes one file, files are sent as a list, in the field `image[]`: some servers accept no
      // other name.
      const edit = { ...body, image: references === 'one' ? files[0]! : files, ...masked };
      if (!stream) return files.length === 0 ? await api.generate(body) : await api.edit(edit);
      const more = { stream: true, partial_images: partials } as const;
      const call = files.length === 0 ? api.generate({ ...body, ...more }) : api.edit({ ...edit, ...more });
      return await streamedReply(stream, await call.asResponse(), upstream);
    } catch (error) {
      run.signal.throwIfAborted();
      if (error instanceof ProviderError) throw error;
      throw openaiFailure(error, watched, upstream);
    }
  };
  const answer = await withClockProgress(run, TYPICAL_MS, () => paidCall(run, paid));
  const { usage } = usageSchema.safeParse(answer).data ?? {};
  const tokens = reportedTokens(usage?.input_tokens, usage?.output_tokens);
  if (tokens) run.tokens(tokens);
  const pictures = picturesOf(answer, (base64) => embedded.bytesOf(base64) ?? decode(base64)).slice(0, count);
  if (pictures.length === 0) throw noResult('openai', watched, upstream.apiKey, 'no picture');
  return Promise.all(pictures.map((picture, index) => toOutput(picture, first + index, upstream, run)));
}

/**
 * @returns the reply in the form that it has without streaming. Other servers may ignore `stream` and answer with JSON
 * @throws ProviderError of an error event
 */
async function streamedReply({ completed, usage, error }: PictureStream, answer: Response, upstream: Upstream) {
  if (error) {
    const facts = { status: answer.status, requestId: answer.headers.get('x-request-id') ?? undefined, ...error };
    throw failedJob(error.code, operatorCause('openai', upstream.apiKey, facts));
  }
  const isEvents = answer.headers.get('content-type')?.startsWith('text/event-stream');
  if (!isEvents) return (await answer.json()) as unknown;
  return { data: completed === null ? [] : [{ b64_json: completed }], usage };
}

function presetSize({ aspect_ratio: ratio, resolution }: ProviderRequest['input']): string {
  if (resolution !== '1K') throw new UnsupportedRequest('resolution', 'The model makes pictures in 1K only.');
  const size = ratio === 'auto' ? 'auto' : PRESETS[ratio];
  if (!size)
    throw new UnsupportedRequest('aspect_ratio', `The model supports ${Object.keys(PRESETS).join(', ')} only.`);
  return size;
}

async function maskFile(mask: InputImage, form: 'alpha' | 'white'): Promise<File> {
  const bytes = form === 'alpha' ? new Uint8Array(await alphaMask(mask)) : await openAsBlob(mask.path);
  return new File([bytes], 'mask.png', { type: 'image/png' });
}

async function asFile({ path, contentType }: InputImage, index: number): Promise<File> {
  const extension = contentType.slice('image/'.length).replace('jpeg', 'jpg');
  return new File([await openAsBlob(path)], `reference-${index + 1}.${extension}`, { type: contentType });
}

// The SDK's types are wrong for other servers: the reply may be text, or a list may be missing.
const replySchema = z.object({ data: z.array(z.unknown()) });
const usageSchema = z.object({ usage: field(z.object({ input_tokens: number(), output_tokens: number() })) });
const textSchema = z.string().optional().catch(undefined);
const pictureSchema = z.object({ b64_json: textSchema, url: textSchema });

/** @returns for each picture its bytes or its URL; an item with neither is left out */
function picturesOf(reply: unknown, bytesOf: (base64: string) => Buffer): (Buffer | string)[] {
  const { data = [] } = replySchema.safeParse(reply).data ?? {};
  return data.flatMap((item) => {
    const { b64_json: base64, url } = pictureSchema.safeParse(item).data ?? {};
    const bytes = base64 ? bytesOf(base64) : undefined;
    return bytes?.length ? bytes : (url ?? []);
  });
}

/** OpenAI sends plain base64. Other servers of its API may send a data URL instead. */
const decode = (base64: string): Buffer => Buffer.from(base64.replace(/^data:[^,]*,/, ''), 'base64');

/** OpenAI sends the bytes. Other servers may send a URL, which is downloaded. */
async function toOutput(
  picture: Buffer | string,
  index: number,
  upstream: Upstream,
  run: Run,
): Promise<ProviderOutput> {
  if (Buffer.isBuffer(picture)) return picture;
  try {
    return await download({
      provider: 'openai',
      url: picture,
      path: join(run.scratchDir, `picture-${index}`),
      maxBytes: MAX_RESULT_BYTES.image,
      baseUrl: upstream.baseUrl,
      headers: upstream.apiKey === null ? {} : { authorization: `Bearer ${upstream.apiKey}` },
      retryMs: upstream.pollIntervalMs ?? DOWNLOAD_RETRY_MS,
      signal: run.signal,
    });
  } catch (error) {
    if (!(error instanceof ProviderError) || error.code !== 'provider_unavailable') throw error;
    // The code of the error says that nothing was bought, but the picture is paid for.
    throw new ProviderError('result_storage_failed', { billing: 'unknown', cause: error.cause });
  }
}
