import { UpstreamFailure, type UpstreamReply } from './upstream-fetch.ts';

/** What the operator's log says of a failure at an upstream; nothing of it reaches a client. */
export interface OperatorCause {
  provider: string;
  status?: number;
  /** The upstream's own code, or the network's (`ECONNREFUSED`). */
  code?: string;
  request_id?: string;
  /** In the upstream's words, at most 500 characters, without the key and the query strings of URLs. */
  message?: string;
}

/** @param secret the key the call was made with: an upstream may repeat it in what it says */
export function operatorCause(
  provider: string,
  secret: string | null,
  facts: { status?: number; code?: string; requestId?: string; message?: string },
): OperatorCause {
  const { status, code, requestId, message } = facts;
  return {
    provider,
    ...(status === undefined ? {} : { status }),
    ...(code ? { code: clean(code, secret).slice(0, 100) } : {}),
    ...(requestId ? { request_id: clean(requestId, secret).slice(0, 100) } : {}),
    ...(message ? { message: clean(message, secret).slice(0, 500) } : {}),
  };
}

/** Of a call that got no complete answer. */
export function networkCause(provider: string, failure: unknown): OperatorCause {
  const innermost = failure instanceof UpstreamFailure ? failure.cause : failure;
  const { code, message } = (innermost ?? {}) as { code?: unknown; message?: unknown };
  return operatorCause(provider, null, {
    ...(typeof code === 'string' ? { code } : {}),
    message: failure instanceof UpstreamFailure && failure.timedOut ? failure.message : String(message ?? failure),
  });
}

/** Of an answer that is not what its interface promises. */
export function junkCause(provider: string, secret: string | null, reply: UpstreamReply): OperatorCause {
  return operatorCause(provider, secret, { status: reply.status, code: 'unexpected_answer', message: reply.text });
}

/** A presigned URL is a key of its own: what follows the question mark goes. */
function clean(said: unknown, secret: string | null): string {
  const text = typeof said === 'string' ? said : (JSON.stringify(said) ?? ''); // upstreams fill their fields as they like
  const without = secret ? text.replaceAll(secret, '[key]') : text;
  return without
    .replaceAll(/(https?:\/\/[^\s"'?]+)\?[^\s"']*/g, '$1?…')
    .replaceAll(/data:[\w/+.-]+;base64,[\w+/=]+/g, 'data:…');
}
