import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { acceptedJob } from '../jobs/accepted-job.ts';
import { DONE, jobAdapter, type JobState, PENDING } from '../jobs/job-adapter.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { reportedTokens } from '../wire/reported-tokens.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { arkBody, arkPlan } from './ark-body.ts';
import { ARK_POLL_MS, callArk } from './ark-call.ts';
import { createFailure, taskFailure } from './ark-errors.ts';
import { findTask } from './ark-lookup.ts';
import { arkTask } from './ark-wire.ts';

/** A video of five seconds takes one to six minutes. */
const TYPICAL_MS = 180_000;

const pathOf = (id: string): string => `/${encodeURIComponent(id)}`;

/** Seedance 2.0 on Volcengine Ark or BytePlus ModelArk; serves the public models seedance-2 and sora-2. */
export const arkProvider = jobAdapter({
  name: 'ark',
  takes: [
    'prompt',
    'aspect_ratio',
    'resolution',
    'duration',
    'reference_mode',
    'first_frame_image_url',
    'last_frame_image_url',
    'reference_image_url',
    'seed',
    'generate_audio',
  ],
  pollMs: { image: ARK_POLL_MS, video: ARK_POLL_MS },
  typicalMs: { image: TYPICAL_MS, video: TYPICAL_MS },
  plan: arkPlan,
  prepareBody: async (_request, { shot }) => shot,
  create: (request, shot) =>
    acceptedJob({
      provider: 'ark',
      call: callArk(request, '', { method: 'POST', json: arkBody(request, shot) }),
      idOf: (reply) => parseReply(arkTask, reply.json).id,
      requestIdOf: ({ headers }) => headers['x-request-id'],
      refused: (reply) => createFailure(request, reply),
    }),
  read: (request, id, signal) => callArk(request, pathOf(id), { signal }),
  stateOf,
  outputs,
  // A cancel works while the task is queued. Ark refuses to cancel a running task, which continues to its end and is
  // billed.
  cancel: (request, id, signal) => callArk(request, pathOf(id), { method: 'DELETE', signal }),
  neverRan,
  tokens: ({ json }) => {
    const { usage } = parseReply(arkTask, json);
    const output = usage?.completion_tokens;
    return reportedTokens((usage?.total_tokens ?? 0) - (output ?? 0), output);
  },
  find: findTask,
});

/**
 * Ark answers a DELETE in the same way whether it cancels a queued task or removes the record of a finished one. After
 * a cancel the record still exists; after a removal it does not.
 */
async function neverRan(request: ProviderRequest, id: string, signal: AbortSignal): Promise<boolean> {
  const { json } = await callArk(request, pathOf(id), { signal });
  return parseReply(arkTask, json).status === 'cancelled';
}

function stateOf(request: ProviderRequest, reply: UpstreamReply): JobState {
  const task = parseReply(arkTask, reply.json);
  switch (task.status) {
    case 'succeeded':
      return DONE;
    case 'failed':
    case 'cancelled':
    case 'expired':
      throw taskFailure(request, task);
    case 'running':
      return { state: 'running', sinceMs: task.created_at && task.created_at * 1000 };
  }
  return PENDING;
}

/** A link lives for 24 h. Each read of the task returns a new link. */
function outputs({ upstream }: ProviderRequest, _id: string, reply: UpstreamReply): string[] {
  const { content } = parseReply(arkTask, reply.json);
  if (content?.video_url !== undefined) return [content.video_url];
  const cause = operatorCause('ark', upstream.apiKey, { code: 'succeeded_without_video_url' });
  throw new ProviderError('provider_no_result', { cause });
}
