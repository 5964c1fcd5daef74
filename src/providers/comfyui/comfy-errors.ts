import { ProviderError, type ProviderRequest } from '../provider.ts';
import { networkCause, operatorCause, type OperatorCause } from '../wire/operator-cause.ts';
import { retryAfterMs } from '../wire/retry-after.ts';
import { submitRefused } from '../wire/submit-failure.ts';
import { UpstreamFailure, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { eventOf, type HistoryEntry } from './history.ts';

interface NodeError {
  class_type?: string;
  errors?: { type?: string; message?: string; details?: string }[];
}

/** Of a submission answered with anything but our own prompt id. */
export function submitFailure(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  return submitRefused(reply, causeOf(request, reply));
}

/** What went wrong where: a model file that is missing, a node the server does not have. */
function causeOf({ upstream }: ProviderRequest, reply: UpstreamReply): OperatorCause {
  const { error, node_errors: nodeErrors } = (reply.json ?? {}) as Record<string, unknown>;
  const { type, message } = (typeof error === 'object' ? (error ?? {}) : {}) as { type?: string; message?: string };
  const nodes = Object.values((nodeErrors ?? {}) as Record<string, NodeError>).flatMap((node) =>
    (node?.errors ?? []).map((fault) => `${node.class_type}: ${fault.type} ${fault.message} ${fault.details}`),
  );
  return operatorCause('comfyui', upstream.apiKey, {
    status: reply.status,
    code: type ?? 'unexpected_answer',
    message: nodes.length > 0 ? nodes.join('; ') : (message ?? reply.text),
  });
}

/** An upload that got no answer may be repeated: it starts nothing. Anything but an UpstreamFailure is thrown on. */
export function uploadUnanswered(error: unknown): ProviderError {
  if (!(error instanceof UpstreamFailure)) throw error;
  return new ProviderError('provider_unavailable', { billing: 'none', cause: networkCause('comfyui', error) });
}

export function uploadRefused(request: ProviderRequest, reply: UpstreamReply): ProviderError {
  const cause = causeOf(request, reply);
  const isPassing = reply.status < 300 || [408, 425, 429].includes(reply.status) || reply.status >= 500;
  const wait = retryAfterMs(reply.headers);
  const hint = wait === undefined ? {} : { retryAfterMs: wait };
  return new ProviderError(isPassing ? 'provider_unavailable' : 'provider_rejected', {
    billing: 'none',
    cause,
    ...hint,
  });
}

/** @returns why a run that is over has no result; null when it succeeded */
export function runFailure({ upstream }: ProviderRequest, entry: HistoryEntry): ProviderError | null {
  const cause = (code: string, message?: string) =>
    operatorCause('comfyui', upstream.apiKey, { code, ...(message === undefined ? {} : { message }) });
  // Not by us, for we would have stopped listening: somebody at the server did.
  if (eventOf(entry, 'execution_interrupted')) {
    return new ProviderError('provider_unavailable', { cause: cause('execution_interrupted') });
  }
  const fault = eventOf(entry, 'execution_error');
  if (fault) {
    const { node_type: node, exception_type: type, exception_message: message } = fault;
    return new ProviderError('internal_error', { cause: cause('execution_error', `${node}: ${type} ${message}`) });
  }
  if (entry.status?.status_str === 'error') return new ProviderError('internal_error', { cause: cause('error') });
  return null;
}
