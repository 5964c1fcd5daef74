import { withoutQueries } from '../../platform/observe/logging/scrub.ts';
import { UpstreamFailure, type UpstreamReply } from './upstream-fetch.ts';

/** A failure at an upstream, for the operator's log. Clients see nothing of it. */
export interface OperatorCause {
  provider: string;
  status?: number;
  /** The code of the upstream, or of the network (`ECONNREFUSED`). */
  code?: string;
  request_id?: string;
  /** The text of the upstream: at most 500 characters, without the key and without the query strings of URLs. */
  message?: string;
}

/** The last keys that a SIGHUP has replaced. Calls in flight may still use the newest of them, but never this many. */
const replaced = new Set<string>();
const MAX_REPLACED = 100;

/** Removes this key from every later cause, even if the call used another key. */
export function redactAlso(secret: string): void {
  replaced.add(secret);
  if (replaced.size > MAX_REPLACED) replaced.delete(replaced.values().next().value!);
}

/** @param secret the API key of the call; an upstream may repeat it in its text */
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

/** The cause of a call without a complete answer. */
export function networkCause(provider: string, failure: unknown): OperatorCause {
  const innermost = failure instanceof UpstreamFailure ? failure.cause : failure;
  const { code, message } = (innermost ?? {}) as { code?: unknown; message?: unknown };
  return operatorCause(provider, null, {
    ...(typeof code === 'string' ? { code } : {}),
    message: failure instanceof UpstreamFailure && failure.timedOut ? failure.message : String(message ?? failure),
  });
}

/** The cause of an answer that does not follow the API. */
export function junkCause(provider: string, secret: string | null, reply: UpstreamReply): OperatorCause {
  return operatorCause(provider, secret, { status: reply.status, code: 'unexpected_answer', message: reply.text });
}

/**
 * Removes secrets and the content of data: URLs. The query string of a presigned URL is a secret, so every query string
 * is removed.
 */
function clean(value: unknown, secret: string | null): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? ''); // an upstream may send any type
  const secrets = secret ? [secret, ...replaced] : [...replaced];
  return withoutQueries(secrets.reduce((rest, each) => rest.replaceAll(each, '[key]'), text)).replaceAll(
    /data:[\w/+.-]+;base64,[\w+/=]+/g,
    'data:…',
  );
}
