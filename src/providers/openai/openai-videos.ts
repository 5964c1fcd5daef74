import type { Video, VideoCreateParams } from 'openai/resources/videos';
import { join } from 'node:path';
import sharp from 'sharp';
import type { InputImage, ProviderOutput, ProviderRequest, Run, Upstream } from '../provider.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { poll } from '../jobs/poll.ts';
import { runJobs } from '../jobs/run-jobs.ts';
import type { Accepted } from '../jobs/submit-once.ts';
import { upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';
import type { Size } from '../../models/sizes.ts';
import { openaiClient } from './openai-client.ts';
import { failedJob, openaiFailure } from './openai-errors.ts';
import { planFilm } from './openai-video-plan.ts';
import { WatchedCall } from '../wire/watched-call.ts';
import { requestIdOf, uselessSuccess } from '../wire/without-answer.ts';

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
  let body: Promise<VideoCreateParams> | undefined;
  const order = () => (body ??= bodyOf(request));
  // Before the intent is committed: until then a crash has cost nothing.
  if (run.upstreamId === null) await order();
  return runJobs<ProviderOutput>(run, {
    count: 1,
    outputs: 1,
    retryMs: intervalOf(request.upstream),
    submit: async () => submit(request.upstream, await order()),
    collect: async (id, _index, signal, progress) => [
      await collect(request.upstream, id, join(run.scratchDir, 'film.mp4'), signal, progress),
    ],
    cancel: (id, signal) => cancelFilm(request, id, signal),
  });
}

/** Servers that can, stop the job; OpenAI's refuses while it runs, which is no failure of ours. */
export async function cancelFilm({ upstream }: ProviderRequest, id: string, signal: AbortSignal): Promise<void> {
  const headers = keyOf(upstream);
  await upstreamFetch(placeOf(upstream, id), { method: 'DELETE', headers, timeoutMs: CANCEL_TIMEOUT_MS, signal });
}

async function bodyOf(request: ProviderRequest): Promise<VideoCreateParams> {
  const { size, seconds, firstFrame } = planFilm(request);
  return {
    model: request.upstream.model,
    prompt: request.input.prompt,
    seconds: String(seconds),
    size: `${size.width}x${size.height}`,
    ...(firstFrame && { input_reference: await fitted(firstFrame, size) }),
  } as VideoCreateParams; // its unions name the values of sora alone
}

async function submit(upstream: Upstream, body: VideoCreateParams): Promise<Accepted> {
  const { signal } = new AbortController();
  const watched = new WatchedCall({ timeoutMs: SUBMIT_TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES, signal });
  const video = await openaiClient(upstream, watched)
    .videos.create(body)
    .catch((error: unknown) => {
      throw openaiFailure(error, watched, upstream, true);
    });
  const id: unknown = (video as Partial<Video> | null)?.id;
  if (typeof id !== 'string' || id === '') throw uselessSuccess('openai', watched, upstream.apiKey, 'no id');
  return { id, requestId: requestIdOf(watched) ?? null };
}

async function collect(
  upstream: Upstream,
  id: string,
  path: string,
  signal: AbortSignal,
  progress: (percent: number) => void,
): Promise<ProviderOutput> {
  const intervalMs = intervalOf(upstream);
  const headers = keyOf(upstream);
  await poll(
    () => upstreamFetch(placeOf(upstream, id), { headers, timeoutMs: POLL_TIMEOUT_MS, signal }),
    (reply) => judge(reply, upstream, progress),
    { provider: 'openai', secret: upstream.apiKey, intervalMs, signal },
  );
  const url = `${placeOf(upstream, id)}/content?variant=video`;
  return download({
    provider: 'openai',
    url,
    path,
    maxBytes: MAX_RESULT_BYTES.video,
    baseUrl: upstream.baseUrl,
    headers,
    retryMs: intervalMs,
    signal,
    renew: async () => url, // it may be there a moment later; there is no other place
  });
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
function judge(reply: UpstreamReply, upstream: Upstream, tell: (percent: number) => void): true | null {
  const { status, progress, error } = reply.json as Partial<Video>;
  if (status === 'completed') return true;
  if (FAILED.has(String(status))) {
    const code = String(error?.code ?? status);
    const requestId = reply.headers['x-request-id'];
    throw failedJob(code, operatorCause('openai', upstream.apiKey, { code, requestId, message: error?.message }));
  }
  if (typeof progress === 'number') tell(progress);
  return null;
}

const intervalOf = ({ pollIntervalMs }: Upstream): number => pollIntervalMs ?? POLL_INTERVAL_MS;

const placeOf = ({ baseUrl }: Upstream, id: string): string => `${baseUrl}/videos/${encodeURIComponent(id)}`;

const keyOf = ({ apiKey }: Upstream): Record<string, string> =>
  apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
