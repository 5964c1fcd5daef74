import { join } from 'node:path';
import type { Image, ImagesResponse } from 'openai/resources/images';
import type { Approximation } from '../../tasks/task.entity.ts';
import {
  ProviderError,
  UnsupportedRequest,
  type InputImage,
  type ProviderOutput,
  type ProviderRequest,
  type Run,
  type Upstream,
} from '../provider.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { imageChoice } from '../families/sizes.ts';
import { openaiClient } from './openai-client.ts';
import { openaiFailure } from './openai-errors.ts';
import { withClockProgress } from '../jobs/clock-progress.ts';
import { WatchedCall } from '../wire/watched-call.ts';
import { uselessSuccess } from '../wire/without-answer.ts';

/** OpenAI speaks of two minutes for a difficult prompt; 4K and the servers of others need longer. */
export const IMAGE_CALL_TIMEOUT_MS = 600_000;
/** A 4K PNG of pure noise is 33 MB, and 44 MB in base64. */
const MAX_BYTES_PER_PICTURE = 48 * 2 ** 20;
/** A string of Node holds no more than 512 MiB. */
const MAX_ANSWER_BYTES = 480 * 2 ** 20;
const DOWNLOAD_RETRY_MS = 2_000;
/** For the progress shown: of most pictures two thirds are done by then. */
const TYPICAL_MS = 40_000;

/** gpt-image-1, 1.5 and their like make three sizes only; from gpt-image-2 on any size in multiples of 16. */
const PRESET_MODELS = /(^|\/)(gpt-image-1(?!\d)|chatgpt-image)/;
const PRESETS: Record<string, string> = { '1:1': '1024x1024', '3:2': '1536x1024', '2:3': '1024x1536' };
const GPT_MODELS = /(^|\/)(gpt-image-|chatgpt-image)/;

interface Plan {
  size: string;
  approximations: Approximation[];
}

/** @throws Unfit */
export function planPictures({ model, input, images, upstream }: ProviderRequest): Plan {
  const auto = input.aspect_ratio === 'auto';
  if (auto && input.resolution === '1K' && GPT_MODELS.test(upstream.model)) return { size: 'auto', approximations: [] };
  if (PRESET_MODELS.test(upstream.model)) return { size: presetSize(input), approximations: [] };

  // What OpenAI calls "auto" chooses the size too, so at a wanted size the ratio is chosen here.
  const table = GPT_MODELS.test(upstream.model) ? 'gpt-image-2' : model;
  const { ratio, size } = imageChoice(table, input, images.references[0]);
  return {
    size: `${size.width}x${size.height}`,
    approximations: auto ? [{ param: 'aspect_ratio', requested: 'auto', used: ratio }] : [],
  };
}

/** One call makes them all; there is no job to poll, to find or to cancel. */
export async function makePictures(
  { size }: Plan,
  request: ProviderRequest,
  run: Run,
  timeoutMs: number,
): Promise<ProviderOutput[]> {
  const { input, images, upstream } = request;
  const count = input.n ?? 1;
  const body = { model: upstream.model, prompt: input.prompt, n: count, size };
  await run.submitting();
  const watched = new WatchedCall({
    signal: run.signal,
    timeoutMs,
    maxAnswerBytes: Math.min(MAX_ANSWER_BYTES, count * MAX_BYTES_PER_PICTURE + 2 ** 20),
  });
  const api = openaiClient(upstream, watched).images;
  const answer = await withClockProgress(run, TYPICAL_MS, async () => {
    try {
      // Always a list, so always `image[]`: some servers know no other name.
      return images.references.length === 0
        ? await api.generate(body)
        : await api.edit({ ...body, image: images.references.map(asFile) });
    } catch (error) {
      run.signal.throwIfAborted();
      throw openaiFailure(error, watched, upstream, false);
    }
  });
  const useless = (why: string) => uselessSuccess('openai', watched, upstream.apiKey, why);
  const places = picturesOf(answer, count, useless);
  return Promise.all(places.map((place, index) => bring(place, index, upstream, run)));
}

function presetSize({ aspect_ratio: ratio, resolution }: ProviderRequest['input']): string {
  if (resolution !== '1K') throw new UnsupportedRequest('resolution', 'the model makes pictures of the 1K class only');
  const size = ratio === 'auto' ? 'auto' : PRESETS[ratio];
  if (!size) throw new UnsupportedRequest('aspect_ratio', `the model makes ${Object.keys(PRESETS).join(', ')} only`);
  return size;
}

function asFile({ bytes, contentType }: InputImage, index: number): File {
  const extension = contentType.slice('image/'.length).replace('jpeg', 'jpg');
  return new File([new Uint8Array(bytes)], `reference-${index + 1}.${extension}`, { type: contentType });
}

function picturesOf(
  answer: ImagesResponse,
  count: number,
  useless: (why: string) => ProviderError,
): (Buffer | string)[] {
  // Servers that are not OpenAI's answer what they like: a string where the type is no JSON, or no list at all.
  const data: unknown = typeof answer === 'object' ? answer?.data : undefined;
  if (!Array.isArray(data)) throw useless('no list of pictures');
  if (data.length < count) throw useless(`${data.length} pictures instead of ${count}`);
  return data.slice(0, count).map((item: Partial<Image> | null) => {
    const picture = item?.b64_json ? decode(item.b64_json) : item?.url;
    if (!picture || picture.length === 0) throw useless('a picture without b64_json and url');
    return picture;
  });
}

/** The servers of others may answer a data URL in its place. */
const decode = (base64: string): Buffer => Buffer.from(base64.replace(/^data:[^,]*,/, ''), 'base64');

/** OpenAI sends the bytes; others keep them at an address of theirs. */
async function bring(place: Buffer | string, index: number, upstream: Upstream, run: Run): Promise<ProviderOutput> {
  if (Buffer.isBuffer(place)) return place;
  return download({
    provider: 'openai',
    url: place,
    path: join(run.scratchDir, `picture-${index}`),
    maxBytes: MAX_RESULT_BYTES.image,
    baseUrl: upstream.baseUrl,
    retryMs: upstream.pollIntervalMs ?? DOWNLOAD_RETRY_MS,
    signal: run.signal,
  });
}
