import type { Video, VideoCreateParams } from 'openai/resources/videos';
import { join } from 'node:path';
import sharp from 'sharp';
import type { InputImage, ProviderOutput, ProviderRequest, Run, Upstream } from '../../provider.ts';
import { download, MAX_RESULT_BYTES } from '../http/download.ts';
import { operatorCause } from '../http/operator-cause.ts';
import { poll } from '../http/poll.ts';
import { upstreamFetch, type UpstreamReply } from '../http/upstream-fetch.ts';
import type { Size } from '../sandbox/sizes.ts';
import { openaiClient } from './openai-client.ts';
import { failedJob, openaiFailure } from './openai-errors.ts';
import { planFilm } from './openai-video-plan.ts';
import { WatchedCall } from '../http/watched-call.ts';
import { requestIdOf, uselessSuccess } from '../http/without-answer.ts';

const POLL_INTERVAL_MS = 5_000;
/** To take the order and its picture, not to make the film. */
const SUBMIT_TIMEOUT_MS = 120_000;
const POLL_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 2 ** 20;

/** Servers that can stop a job have more of them than OpenAI. */
const FAILED = new Set(['failed', 'cancelled', 'canceled', 'expired']);

/** One job: submit, poll, download. */
export async function makeFilm(request: ProviderRequest, run: Run): Promise<ProviderOutput[]> {
  const { upstream } = request;
  const id = run.upstreamId ?? (await submit(request, run));
  const intervalMs = upstream.pollIntervalMs ?? POLL_INTERVAL_MS;
  const { signal } = run;
  await poll(
    () => upstreamFetch(placeOf(upstream, id), { headers: keyOf(upstream), timeoutMs: POLL_TIMEOUT_MS, signal }),
    (reply) => judge(reply, upstream, run),
    { provider: 'openai', secret: upstream.apiKey, intervalMs, signal },
  );
  const url = `${placeOf(upstream, id)}/content?variant=video`;
  const film = await download({
    provider: 'openai',
    url,
    path: join(run.scratchDir, 'film.mp4'),
    maxBytes: MAX_RESULT_BYTES.video,
    baseUrl: upstream.baseUrl,
    headers: keyOf(upstream),
    retryMs: intervalMs,
    signal,
    renew: async () => url, // it may be there a moment later; there is no other place
  });
  return [film];
}

/** Servers that can, stop the job; OpenAI's refuses while it runs, which is no failure of ours. */
export async function cancelFilm({ upstream }: ProviderRequest, id: string, signal: AbortSignal): Promise<void> {
  const headers = keyOf(upstream);
  await upstreamFetch(placeOf(upstream, id), { method: 'DELETE', headers, timeoutMs: CANCEL_TIMEOUT_MS, signal });
}

async function submit(request: ProviderRequest, run: Run): Promise<string> {
  const { upstream, input } = request;
  const { size, seconds, firstFrame } = planFilm(request);
  const body = {
    model: upstream.model,
    prompt: input.prompt,
    seconds: String(seconds),
    size: `${size.width}x${size.height}`,
    ...(firstFrame && { input_reference: await fitted(firstFrame, size) }),
  } as VideoCreateParams; // its unions name the values of sora alone
  const limits = { timeoutMs: SUBMIT_TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES, signal: run.signal };
  const watched = new WatchedCall(limits);
  await run.submitting();
  const video = await openaiClient(upstream, watched)
    .videos.create(body)
    .catch((error: unknown) => {
      run.signal.throwIfAborted();
      throw openaiFailure(error, watched, upstream, true);
    });
  const id: unknown = (video as Partial<Video> | null)?.id;
  if (typeof id !== 'string' || id === '') throw uselessSuccess('openai', watched, upstream.apiKey, 'no id');
  await run.submitted(id, requestIdOf(watched));
  return id;
}

/** sora refuses a picture of another size than the film's, so it is cut to that. */
async function fitted({ bytes, contentType }: InputImage, { width, height }: Size): Promise<File> {
  const picture = sharp(bytes).autoOrient().resize(width, height, { fit: 'cover' });
  const lossless = contentType === 'image/png';
  const encoded = await (lossless ? picture.png() : picture.jpeg({ quality: 95 })).toBuffer();
  const [name, type] = lossless ? ['first-frame.png', 'image/png'] : ['first-frame.jpg', 'image/jpeg'];
  return new File([new Uint8Array(encoded)], name, { type });
}

/** @returns null while it is on its way @throws ProviderError for a job that failed */
function judge(reply: UpstreamReply, upstream: Upstream, run: Run): true | null {
  const { status, progress, error } = reply.json as Partial<Video>;
  if (status === 'completed') return true;
  if (FAILED.has(String(status))) {
    const code = String(error?.code ?? status);
    const requestId = reply.headers['x-request-id'];
    throw failedJob(code, operatorCause('openai', upstream.apiKey, { code, requestId, message: error?.message }));
  }
  if (typeof progress === 'number') run.progress(progress);
  return null;
}

const placeOf = ({ baseUrl }: Upstream, id: string): string => `${baseUrl}/videos/${encodeURIComponent(id)}`;

const keyOf = ({ apiKey }: Upstream): Record<string, string> =>
  apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
