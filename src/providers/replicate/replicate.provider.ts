import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { acceptedJob } from '../jobs/accepted-job.ts';
import { DONE, jobAdapter, type JobState, PENDING } from '../jobs/job-adapter.ts';
import { withDeclaredMask } from '../wire/alpha-mask.ts';
import { junkCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { MAX_BYTES_WITH_RESULT, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { callReplicate, REPLICATE_POLL_MS } from './replicate-call.ts';
import { createFailure, predictionFailure } from './replicate-errors.ts';
import { uploadInputs } from './replicate-files.ts';
import { replicatePlan } from './replicate-input.ts';
import { findPrediction } from './replicate-lookup.ts';
import { prediction, type Prediction } from './replicate-wire.ts';

const pathOf = (id: string): string => `/predictions/${encodeURIComponent(id)}`;

/**
 * Predictions of Replicate's official models. It serves gpt-image-2, the nano-bananas and Seedance 2.0, and any model
 * whose binding has `send`.
 */
export const replicateProvider = jobAdapter({
  name: 'replicate',
  takes: [
    'prompt',
    'aspect_ratio',
    'resolution',
    'n',
    'reference_images',
    'quality',
    'background',
    'duration',
    'reference_mode',
    'first_frame_image_url',
    'last_frame_image_url',
    'reference_image_url',
    'seed',
    'generate_audio',
  ],
  pollMs: REPLICATE_POLL_MS,
  typicalMs: { image: 30_000, video: 180_000 },
  plan: replicatePlan,
  prepareBody: async (request, plan, { signal }) => {
    const masked = await withDeclaredMask(request);
    const { images, input } = masked === request ? plan : replicatePlan(masked);
    const urls = await uploadInputs(request, images, signal);
    return (index: number) => input(urls, index);
  },
  create: (request, inputOf, index) =>
    acceptedJob({
      provider: 'replicate',
      call: callReplicate(request, `/models/${request.upstream.model}/predictions`, {
        method: 'POST',
        json: { input: inputOf(index) },
      }),
      idOf: (reply) => parseReply(prediction, reply.json).id,
      requestIdOf: ({ headers }) => headers['x-request-id'],
      refused: (reply) => createFailure(request, reply),
    }),
  read: (request, id, signal) => callReplicate(request, pathOf(id), { signal, maxBytes: MAX_BYTES_WITH_RESULT }),
  stateOf,
  outputs,
  cancel: (request, id, signal) => callReplicate(request, `${pathOf(id)}/cancel`, { method: 'POST', signal }),
  find: findPrediction,
});

function stateOf(request: ProviderRequest, reply: UpstreamReply): JobState {
  const job = parseReply(prediction, reply.json);
  switch (job.status) {
    case 'succeeded':
      return DONE;
    case 'failed':
    case 'canceled':
    case 'aborted':
      throw predictionFailure(request, job);
    case 'processing':
      return { state: 'running', percent: printedPercent(job), sinceMs: startMs(job) };
  }
  return PENDING;
}

/** The percent of the last progress bar in the logs, for models that print one. */
function printedPercent({ logs = '' }: Prediction): number | undefined {
  const printed = [...logs.slice(-2_000).matchAll(/(\d{1,3})%\|/g)].at(-1)?.[1];
  return printed === undefined ? undefined : Number(printed);
}

function startMs({ started_at: startedAt = '' }: Prediction): number | undefined {
  const ms = Date.parse(startedAt);
  return Number.isNaN(ms) ? undefined : ms;
}

function outputs({ upstream }: ProviderRequest, _id: string, reply: UpstreamReply): string[] {
  const { output } = parseReply(prediction, reply.json);
  const urls = [output].flat().filter((url): url is string => typeof url === 'string' && url !== '');
  if (urls.length > 0) return urls;
  throw new ProviderError('provider_no_result', { cause: junkCause('replicate', upstream.apiKey, reply) });
}
