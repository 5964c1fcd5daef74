import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { networkCause, operatorCause, type OperatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import { UpstreamFailure, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { executionError, type HistoryEntry, refusal } from './comfy-wire.ts';
import { eventOf } from './history.ts';

/** The error for a submission whose reply contains no prompt id. */
export function submitFailure(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  return submitRefused(reply, causeOf(request, reply));
}

/**
 * Why ComfyUI refused the workflow, with the errors of each failed node. Typical errors are a missing model file and a
 * node type that the server does not have.
 */
function causeOf({ upstream }: ProviderRequest, reply: UpstreamReply): OperatorCause {
  const { error, node_errors: nodeErrors = {} } = parseReply(refusal, reply.json);
  const nodes = Object.values(nodeErrors).flatMap((node) =>
    (node?.errors ?? []).map((fault) => `${node?.class_type}: ${fault?.type} ${fault?.message} ${fault?.details}`),
  );
  return operatorCause('comfyui', upstream.apiKey, {
    status: reply.status,
    code: error?.type ?? 'unexpected_answer',
    message: nodes.length > 0 ? nodes.join('; ') : (error?.message ?? reply.text),
  });
}

/**
 * The error for an upload without an answer. The upload may be repeated, because it starts no work.
 * @throws any error but an UpstreamFailure, unchanged
 */
export function uploadUnanswered(error: unknown): ProviderError {
  if (!(error instanceof UpstreamFailure)) throw error;
  return new ProviderError('provider_unavailable', { billing: 'none', cause: networkCause('comfyui', error) });
}

export function uploadRefused(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const cause = causeOf(request, reply);
  const isTemporary = reply.status < 300 || [408, 425, 429].includes(reply.status) || reply.status >= 500;
  return new ProviderError(isTemporary ? 'provider_unavailable' : 'provider_rejected', {
    billing: 'none',
    cause,
    retryAfterMs: retryAfterMs(reply.headers),
  });
}

/** @returns why a run that has ended has no result; null when it succeeded */
export function runFailure({ upstream }: ProviderRequest, entry: HistoryEntry): ProviderError | null {
  const cause = (code: string, message?: string) => operatorCause('comfyui', upstream.apiKey, { code, message });
  // After its own cancel, this service does not read the run again. So a user of the server has interrupted this run.
  if (eventOf(entry, 'execution_interrupted')) {
    return new ProviderError('provider_unavailable', { cause: cause('execution_interrupted') });
  }
  const fault = eventOf(entry, 'execution_error');
  if (fault) {
    const { node_type: node, exception_type: type, exception_message: message } = parseReply(executionError, fault);
    return new ProviderError('internal_error', { cause: cause('execution_error', `${node}: ${type} ${message}`) });
  }
  if (entry.status?.status_str === 'error') return new ProviderError('internal_error', { cause: cause('error') });
  return null;
}
