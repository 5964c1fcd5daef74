import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { Outbound, type OutboundAnswer } from '../../platform/outbound/outbound.ts';
import { WEBHOOK_AGENT } from '../../platform/outbound/user-agent.ts';
import { Secrets } from '../../platform/config/secrets.ts';
import type { ClaimedDispatch } from '../sql/claim-dispatches.ts';
import type { FinishedDelivery } from '../sql/finish-deliveries.ts';
import { unseal } from '../endpoints/endpoint-secret.ts';
import { signedHeaders } from './signature.ts';
import { DELIVERY_ERRORS, type DeliveryError } from '../record/webhook-delivery.entity.ts';
import { newDeliveryId } from '../record/webhook-id.ts';
import { parseRetryAfter } from '../../platform/http/retry-after.ts';

/**
 * The largest random addition to a scheduled delay, as a share of that delay. It spreads the retries of events that
 * failed at the same time.
 */
const JITTER = 0.2;

/** With `Retry-After` a receiver can extend the scheduled delay to this many times its length. */
const MAX_STRETCH = 2;

/**
 * Seconds until the next attempt.
 * @param failures failed attempts of the schedule, including the one that has just ended; at least 1
 * @param retryAfter the raw `Retry-After` header
 * @returns null when the schedule is exhausted
 */
export function retryDelayS(
  schedule: readonly number[],
  failures: number,
  retryAfter: unknown,
  { random = Math.random, nowMs = Date.now() }: { random?: () => number; nowMs?: number } = {},
): number | null {
  const gap = schedule[failures - 1];
  if (gap === undefined) return null;
  const requestedMs = parseRetryAfter(retryAfter, nowMs);
  if (requestedMs !== null) return Math.min(Math.max(requestedMs / 1000, gap), gap * MAX_STRETCH);
  return gap * (1 + JITTER * random());
}

const MAX_SNIPPET_BYTES = 4096;

/**
 * The start of a response as text, for the log: at most 4 kB, no partial characters, no NUL (PostgreSQL rejects it).
 */
export function snippetOf(body: Buffer): string {
  // Truncated again after decoding, because a byte that is not UTF-8 becomes a longer character.
  return truncate(Buffer.from(truncate(body).replaceAll('\0', '\ufffd')));
}

/** Decodes the first bytes. `stream` drops a character that is cut off at the end. */
function truncate(bytes: Buffer): string {
  return new TextDecoder().decode(bytes.subarray(0, MAX_SNIPPET_BYTES), { stream: true });
}

/** The maximum number of bytes that are read from a response. Its status decides; its body is only for the log. */
const MAX_RESPONSE_BYTES = 20_000;

type Head = Pick<OutboundAnswer, 'status' | 'headers'>;
type Outcome = Pick<FinishedDelivery, 'outcome' | 'status_code' | 'error' | 'response_snippet'> & {
  retryAfter?: unknown;
};
type Result = Outcome & Pick<FinishedDelivery, 'request_headers'>;

/** Makes one HTTP attempt, signed with the current secrets. Writes nothing to the database. */
@Injectable()
export class Attempt {
  private readonly logger = new Logger('webhooks');

  constructor(
    private readonly config: Config,
    private readonly outbound: Outbound,
    private readonly secrets: Secrets,
  ) {}

  /** @param signal aborts at the end of the grace period. An attempt that has no HTTP status by then is `lost` */
  async make(claimed: ClaimedDispatch, signal: AbortSignal): Promise<FinishedDelivery> {
    const { event_id, endpoint_id, attempt, url, failures, trigger, attempted_at } = claimed;
    const startedAt = performance.now();
    const { retryAfter, ...result } = await this.send(claimed, signal);
    const retries = result.outcome === 'failed' && trigger !== 'test';
    return {
      delivery_id: newDeliveryId(),
      event_id,
      endpoint_id,
      attempt,
      url,
      trigger,
      attempted_at,
      ...result,
      retry_in_s: retries ? retryDelayS(this.config.webhookRetryScheduleS, failures + 1, retryAfter) : null,
      duration_ms: Math.round(performance.now() - startedAt),
    };
  }

  /**
   * Sends the request. The status decides, even if the body breaks off after it. An attempt that cannot be made counts
   * as a failed one, for example because the secret cannot be decrypted. If `send` threw instead, the lease would
   * lapse, and the sweep would make the dispatch due again and again.
   */
  private async send(claimed: ClaimedDispatch, signal: AbortSignal): Promise<Result> {
    const { event_id, url, body } = claimed;
    let head: Head | undefined;
    let request_headers: Result['request_headers'] = null;
    try {
      const signed = signedHeaders(event_id, body, this.secretsOf(claimed));
      request_headers = shownHeaders(signed);
      const response = await this.outbound.request(url, {
        purpose: 'webhook',
        method: 'POST',
        headers: signed,
        body,
        timeoutMs: this.config.webhookTimeoutMs,
        maxResponseBytes: MAX_RESPONSE_BYTES,
        signal,
        onHead: (arrived) => (head = arrived),
      });
      const isKept = !response.isExcepted || this.config.webhookKeepExcepted;
      return { ...resultOf(response, isKept ? response.body : undefined), request_headers };
    } catch (error) {
      if (head) return { ...resultOf(head), request_headers };
      const noResponse = { status_code: null, response_snippet: null, request_headers };
      if (error instanceof OutboundError) return { outcome: 'failed', error: errorOf(error), ...noResponse };
      if (signal.aborted) return { outcome: 'lost', error: 'connect_failed', ...noResponse };
      const { endpoint_id } = claimed;
      this.logger.error({ event: 'webhook.attempt_failed', event_id, endpoint_id, err: error });
      // No request was sent. Of the public errors, `connect_failed` is the nearest. The log of the service has the
      // reason.
      return { outcome: 'failed', error: 'connect_failed', ...noResponse };
    }
  }

  private secretsOf({ secret, old_secret, endpoint_id }: ClaimedDispatch): string[] {
    const keys = this.secrets.deriveAll('webhook-secrets');
    return [secret, old_secret].flatMap((sealed) => (sealed ? [unseal(sealed, keys, endpoint_id)] : []));
  }
}

/**
 * The outcome of an answer. The body of an answer from an address of OUTBOUND_ALLOW_CIDRS may be private, and the
 * tenant who chose the URL could read it in the log. So it is stored only with WEBHOOK_KEEP_EXCEPTED_RESPONSES.
 * @param body missing if it broke off or must not be stored
 */
export function resultOf({ status, headers }: Head, body?: Buffer): Outcome {
  const delivered = status >= 200 && status < 300;
  return {
    outcome: delivered ? 'delivered' : 'failed',
    status_code: status,
    error: delivered ? null : 'http_status',
    response_snippet: body ? snippetOf(body) : null,
    retryAfter: headers['retry-after'],
  };
}

/** The public error of a failed call; `connect_failed` for a kind that is not public. */
function errorOf({ kind }: OutboundError): DeliveryError {
  return DELIVERY_ERRORS.find((error) => error === kind) ?? 'connect_failed';
}

/** The headers for the log, without the signature: whoever read it could send the request again. */
function shownHeaders(signed: Record<string, string>): Record<string, string> {
  const { 'webhook-signature': _, ...shown } = signed;
  return { ...shown, 'user-agent': WEBHOOK_AGENT };
}
