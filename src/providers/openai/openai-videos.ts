import type { VideoCreateParams } from 'openai/resources/videos';
import { type InputImage, type ProviderRequest, UnsupportedRequest, type Upstream } from '../contract/provider.ts';
import { seedAt } from '../contract/seed.ts';
import { extraFields } from '../contract/slot-values.ts';
import type { Size } from '../../models/definition/sizes.ts';
import { isJobId } from '../jobs/accepted-job.ts';
import { DONE, jobAdapter, type JobState, PENDING } from '../jobs/job-adapter.ts';
import type { Accepted } from '../jobs/submit-once.ts';
import { hasSlot } from '../templates/template.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { UpstreamFailure, upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { WatchedCall } from '../wire/watched-call.ts';
import { requestIdOf, uselessSuccess } from '../wire/without-answer.ts';
import { OF_FILMS, takenBesides } from './dialects.ts';
import { openaiClient } from './openai-client.ts';
import { failedJob, openaiFailure } from './openai-errors.ts';
import { planVideo } from './openai-video-plan.ts';
import { stateNamed, videoJob } from './openai-wire.ts';

/** The time limit until the server has accepted the job and its image. The server makes the video afterwards. */
const SUBMIT_TIMEOUT_MS = 120_000;
const POLL_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 2 ** 20;

const headersOf = ({ upstream }: ProviderRequest): Record<string, string> =>
  upstream.apiKey === null ? {} : { authorization: `Bearer ${upstream.apiKey}` };

const urlOf = ({ upstream }: ProviderRequest, id: string): string =>
  `${upstream.baseUrl}/videos/${encodeURIComponent(id)}`;

const contentOf = (request: ProviderRequest, id: string): string => `${urlOf(request, id)}/content?variant=video`;

/** The Videos API: one job per request. */
export const openaiVideos = jobAdapter({
  name: 'openai',
  takes: [
    'prompt',
    'aspect_ratio',
    'resolution',
    'duration',
    'reference_mode',
    'first_frame_image_url',
    'reference_image_url',
    'size',
    ...OF_FILMS,
  ],
  pollMs: { image: 5_000, video: 5_000 },
  typicalMs: { image: 180_000, video: 180_000 },
  plan: planJob,
  prepareBody: createBody,
  create: ({ upstream }, body) => create(upstream, body),
  read: (request, id, signal) =>
    upstreamFetch(urlOf(request, id), { headers: headersOf(request), timeoutMs: POLL_TIMEOUT_MS, signal }),
  isRecord,
  stateOf,
  hasResult,
  outputs: (request, id) => [contentOf(request, id)],
  downloadHeaders: headersOf,
  // Other servers stop the job upon a DELETE. OpenAI refuses the DELETE while the job runs.
  cancel: (request, id, signal) => {
    const headers = headersOf(request);
    return upstreamFetch(urlOf(request, id), { method: 'DELETE', headers, timeoutMs: CANCEL_TIMEOUT_MS, signal });
  },
});

function planJob(request: ProviderRequest) {
  const film = planVideo(request);
  const own = filmFields(request);
  const sendsSeed = own.seed !== undefined || hasSlot(request.upstream.declared?.send, 'seed');
  return {
    count: 1,
    ...(sendsSeed && { seeds: [seedAt(request, 0)] }),
    ...film,
    extra: { ...own, ...extraFields(request) },
  };
}

/** The further fields that servers other than OpenAI's accept. @throws UnsupportedRequest */
function filmFields(request: ProviderRequest): Record<string, unknown> {
  const { input, upstream } = request;
  const { negative_prompt: negative, generate_audio: sound } = input;
  const takes = takenBesides(upstream.declared?.dialect ?? 'openai', 'video') ?? [];
  const other = OF_FILMS.find((name) => input[name] !== undefined && !takes.includes(name));
  if (other !== undefined) throw new UnsupportedRequest(other, `The server does not take ${other} for films.`);
  return {
    ...(takes.includes('seed') && { seed: seedAt(request, 0) }),
    ...(negative && { negative_prompt: negative }),
    ...(sound !== undefined && { generate_sound: sound }),
  };
}

/**
 * Whether the job is sent as JSON instead of a form. In some versions, SGLang (`video_api.py`) refuses a form without
 * an image. In JSON, it wants seconds as a number.
 */
const wantsJson = (upstream: Upstream, body: VideoCreateParams): boolean =>
  upstream.declared?.dialect === 'sglang' && body.input_reference === undefined;

async function createBody(
  { upstream, input }: ProviderRequest,
  { size, seconds, firstFrame, extra }: ReturnType<typeof planJob>,
): Promise<VideoCreateParams> {
  return {
    model: upstream.model,
    prompt: input.prompt,
    seconds: String(seconds),
    size: `${size.width}x${size.height}`,
    ...(firstFrame && { input_reference: await croppedTo(size, firstFrame) }),
    ...extra,
  } as VideoCreateParams; // the SDK's unions contain only the values of sora
}

async function create(upstream: Upstream, body: VideoCreateParams): Promise<Accepted> {
  const watched = new WatchedCall({ timeoutMs: SUBMIT_TIMEOUT_MS, maxAnswerBytes: MAX_ANSWER_BYTES });
  const client = await openaiClient(upstream, watched);
  const sent: Promise<unknown> = wantsJson(upstream, body)
    ? client.post('/videos', { body: { ...body, seconds: Number(body.seconds) } })
    : client.videos.create(body);
  const video = await sent.catch((error: unknown) => {
    throw openaiFailure(error, watched, upstream);
  });
  const { id } = parseReply(videoJob, video);
  if (!id || !isJobId(id)) throw uselessSuccess('openai', watched, upstream.apiKey, 'no id');
  return { id, requestId: requestIdOf(watched) ?? null };
}

/**
 * sora refuses an image whose size differs from that of the video. So the image is scaled and cropped to the size of
 * the video.
 */
async function croppedTo({ width, height }: Size, { path, contentType }: InputImage): Promise<File> {
  const { default: sharp } = await import('sharp');
  const image = sharp(path).autoOrient().resize(width, height, { fit: 'cover' });
  const isLossless = contentType === 'image/png';
  const encoded = await (isLossless ? image.png() : image.jpeg({ quality: 95 })).toBuffer();
  const [name, type] = isLossless ? ['first-frame.png', 'image/png'] : ['first-frame.jpg', 'image/jpeg'];
  return new File([new Uint8Array(encoded)], name, { type });
}

/**
 * Whether an error reply describes the job. vLLM-Omni answers with an error status, and with the failed job as the
 * body.
 */
function isRecord({ json }: UpstreamReply): boolean {
  const { object, status = '' } = parseReply(videoJob, json);
  return object === 'video' && stateNamed(status) === 'failed';
}

function stateOf({ upstream }: ProviderRequest, reply: UpstreamReply): JobState {
  const { status = '', state = '', progress: percent, error } = parseReply(videoJob, reply.json);
  const name = status || state;
  switch (stateNamed(name)) {
    case 'done':
      return DONE;
    case 'failed': {
      const code = error?.code ?? name;
      const facts = { code, requestId: reply.headers['x-request-id'], message: error?.message };
      throw failedJob(code, operatorCause('openai', upstream.apiKey, facts));
    }
    case 'unfinished':
      return percent === undefined ? PENDING : { state: 'running', percent };
  }
  return { state: 'unknown', name: name.slice(0, 40) };
}

/**
 * Whether the file of the video exists. Before the end of the job, servers answer with an error. After the end, they
 * send the file or redirect to it.
 */
async function hasResult(request: ProviderRequest, id: string, signal: AbortSignal): Promise<boolean> {
  const call = { headers: headersOf(request), timeoutMs: POLL_TIMEOUT_MS, signal, headersOnly: true };
  try {
    const { status, headers } = await upstreamFetch(contentOf(request, id), call);
    const isFile = /^(video\/|application\/octet-stream|binary\/)/.test(headers['content-type'] ?? '');
    return status === 200 ? isFile : status >= 300 && status < 400 && headers.location !== undefined;
  } catch (error) {
    if (error instanceof UpstreamFailure) return false;
    throw error;
  }
}
