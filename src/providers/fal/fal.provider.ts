import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { acceptedJob } from '../jobs/accepted-job.ts';
import { DONE, jobAdapter, type JobState, PENDING } from '../jobs/job-adapter.ts';
import { type PollOptions, readWithRetry } from '../jobs/poll.ts';
import { alphaMask } from '../wire/alpha-mask.ts';
import { readyImages } from '../wire/image-slots.ts';
import { junkCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { MAX_BYTES_WITH_RESULT, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { callFal, requestPath } from './fal-call.ts';
import { resultFailure, statusFailure, submitFailure } from './fal-errors.ts';
import { falPlan } from './fal-input.ts';
import { falResult, falStatus, falSubmitted } from './fal-wire.ts';

/**
 * fal keeps results for a week or more by default. The worker copies a result at once. A day is enough even if another
 * worker has to take over the task.
 */
const RESULT_LIFETIME = JSON.stringify({ expiration_duration_seconds: 86_400 });
const SUBMIT_HEADERS = { 'x-fal-queue-priority': 'normal', 'x-fal-object-lifecycle-preference': RESULT_LIFETIME };

/**
 * The queue of fal. It serves gpt-image-2, the nano-bananas and Seedance 2.0, and any model whose binding has `send`.
 */
export const falProvider = jobAdapter({
  name: 'fal',
  takes: [
    'prompt',
    'aspect_ratio',
    'resolution',
    'n',
    'reference_images',
    'quality',
    'duration',
    'reference_mode',
    'first_frame_image_url',
    'last_frame_image_url',
    'reference_image_url',
    'seed',
    'generate_audio',
    'size',
    'mask',
    'background',
  ],
  pollMs: { image: 2_000, video: 5_000 },
  typicalMs: { image: 30_000, video: 180_000 },
  plan: falPlan,
  prepareBody: async (request, plan, run) => {
    const { mask } = request.images;
    if (plan.takesMask && mask) {
      return { ...plan, mask: `data:image/png;base64,${(await alphaMask(mask)).toString('base64')}` };
    }
    const ready = await readyImages(request, request.upstream.declared?.send, run);
    return { ...(ready === request ? plan : falPlan(ready)), mask: null };
  },
  create: (request, { endpoint, input, mask }, index) =>
    acceptedJob({
      provider: 'fal',
      call: callFal(request, `/${endpoint}`, {
        method: 'POST',
        json: { ...input(index), ...(mask !== null && { mask_url: mask }) },
        headers: SUBMIT_HEADERS,
      }),
      idOf: submittedId,
      requestIdOf: (reply) => reply.headers['x-fal-request-id'] ?? submittedId(reply),
      refused: (reply) => submitFailure(request, reply),
    }),
  read: (request, id, signal) => callFal(request, `${requestPath(request, id)}/status`, { signal }),
  stateOf,
  readResult,
  outputs,
  cancel: (request, id, signal) => callFal(request, `${requestPath(request, id)}/cancel`, { method: 'PUT', signal }),
  hasEnded: ({ status, json }) => status === 400 && parseReply(falStatus, json).status === 'ALREADY_COMPLETED',
});

const submittedId = (reply: UpstreamReply): string | undefined => parseReply(falSubmitted, reply.json).request_id;

/** fal does not report since when a request has been running. */
function stateOf(request: ProviderRequest, reply: UpstreamReply): JobState {
  const job = parseReply(falStatus, reply.json);
  if (job.status === 'IN_PROGRESS') return { state: 'running' };
  if (job.status !== 'COMPLETED') return PENDING;
  // A job with an error without a type counts as done, because the result describes that error better.
  if (job.error_type) throw statusFailure(request, job);
  return DONE;
}

async function readResult(request: ProviderRequest, id: string, options: PollOptions): Promise<UpstreamReply> {
  const call = { signal: options.signal, maxBytes: MAX_BYTES_WITH_RESULT };
  const read = () => callFal(request, requestPath(request, id), call);
  const reply = await readWithRetry(read, { ...options, isAnswer: isResult });
  if (reply.status >= 300) throw resultFailure(request, reply);
  return reply;
}

/**
 * Whether a reply is the result of the request. The result of a failed request is an error of the model with a
 * `detail`. An error without a `detail` comes from the gateway.
 */
function isResult({ status, json }: UpstreamReply): boolean {
  if (typeof json !== 'object' || json === null) return false;
  if (status >= 200 && status < 300) return true;
  return (status === 400 || status === 422 || status >= 500) && 'detail' in json;
}

function outputs(request: ProviderRequest, _id: string, reply: UpstreamReply): string[] {
  const { images = [], video } = parseReply(falResult, reply.json);
  const files = request.kind === 'video' ? [video] : images;
  const urls = files.flatMap((file) => file?.url ?? []);
  if (urls.length > 0) return urls;
  throw new ProviderError('provider_no_result', { cause: junkCause('fal', request.upstream.apiKey, reply) });
}
