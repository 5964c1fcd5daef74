import type { TaskErrorCode } from '../../tasks/record/task-error.ts';
import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { operatorCause, type OperatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import { type Prediction, replicateRefusal } from './replicate-wire.ts';

/** A failed prediction gives its reason as free text only. The first pattern that matches decides. */
const REASONS: readonly (readonly [RegExp, TaskErrorCode])[] = [
  [/flagged|sensitive|moderation|safety|content policy|nsfw|\bE005\b/i, 'content_policy_violation'],
  [/timed? ?out|deadline/i, 'provider_timeout'],
  [
    /unavailable|overloaded|high demand|rate.?limit|throttled|try again|connection|interrupted|internal|out of memory/i,
    'provider_unavailable',
  ],
  [/invalid|not supported|unsupported|must be|too (long|large|small|short)/i, 'provider_rejected'],
];

/** The error for a reply to the create call that contains no prediction. */
export function createFailure(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const refused = submitRefused(withHint(reply), replyCause(request, reply));
  // As in a failed prediction, the text decides whether the content is the reason.
  if (refused.code !== 'provider_rejected' || reply.status !== 422) return refused;
  if (!REASONS[0]?.[0].test(detailOf(reply))) return refused;
  return new ProviderError('content_policy_violation', { billing: 'none', cause: refused.cause });
}

/** The error for a prediction that ended without a result. */
export function predictionFailure({ upstream }: ProviderRequest, { id, status, error }: Prediction): ProviderError {
  const message = typeof error === 'string' ? error : JSON.stringify(error ?? '');
  const cause = operatorCause('replicate', upstream.apiKey, { code: status, requestId: id, message });
  if (status === 'aborted') return new ProviderError('provider_timeout', { cause }); // the start took too long
  // This service does not poll after its own cancel. So someone else has cancelled the prediction.
  if (status === 'canceled') return new ProviderError('internal_error', { cause });
  const code = REASONS.find(([pattern]) => pattern.test(message))?.[1];
  return new ProviderError(code ?? 'internal_error', { cause });
}

export function replyCause({ upstream }: ProviderRequest, reply: UpstreamReply): OperatorCause {
  return operatorCause('replicate', upstream.apiKey, {
    status: reply.status,
    code: parseReply(replicateRefusal, reply.json).title,
    requestId: reply.headers['x-request-id'],
    message: detailOf(reply),
  });
}

function detailOf({ json, text }: UpstreamReply): string {
  return parseReply(replicateRefusal, json).detail ?? text;
}

/** Adds a Retry-After header to a throttled reply that states its wait only in the text, as in "resets in ~30s". */
function withHint(reply: UpstreamReply): UpstreamReply {
  const seconds = /~(\d+)s/.exec(detailOf(reply))?.[1];
  if (reply.status !== 429 || reply.headers['retry-after'] || !seconds) return reply;
  return { ...reply, headers: { ...reply.headers, 'retry-after': seconds } };
}
