import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { OutboundError } from '../../platform/outbound/outbound-error.ts';
import { Outbound, type OutboundAnswer } from '../../platform/outbound/outbound.ts';
import { Secrets } from '../../platform/secrets.ts';
import type { ClaimedDispatch } from '../sql/claim-dispatches.ts';
import type { FinishedDelivery } from '../sql/finish-deliveries.ts';
import { unseal } from '../endpoints/endpoint-secret.ts';
import { retryDelayS } from './retry-delay.ts';
import { signedHeaders } from './signature.ts';
import { snippetOf } from './snippet.ts';
import { DELIVERY_ERRORS, type DeliveryError } from './webhook-delivery.entity.ts';
import { newDeliveryId } from '../webhook-id.ts';

/** Bytes of an answer that are read; it is told by its status, the rest is for the log. */
const MAX_READ = 20_000;

type Head = Pick<OutboundAnswer, 'status' | 'headers'>;
type HowItWent = Pick<FinishedDelivery, 'outcome' | 'status_code' | 'error' | 'response_snippet'> & {
  retryAfter?: unknown;
};

/** One HTTP attempt, signed with the secrets of this moment. Writes nothing. */
@Injectable()
export class Attempt {
  constructor(
    private readonly config: Config,
    private readonly outbound: Outbound,
    private readonly secrets: Secrets,
  ) {}

  /** @param signal aborts when the process stops: the attempt is then `lost` */
  async make(claimed: ClaimedDispatch, signal: AbortSignal): Promise<FinishedDelivery> {
    const { event_id, endpoint_id, attempt, failures, trigger, attempted_at } = claimed;
    const startedAt = performance.now();
    const { retryAfter, ...how } = await this.send(claimed, signal);
    const retries = how.outcome === 'failed' && trigger !== 'test';
    return {
      delivery_id: newDeliveryId(),
      event_id,
      endpoint_id,
      attempt,
      trigger,
      attempted_at,
      ...how,
      retry_in_s: retries ? retryDelayS(this.config.webhookRetryScheduleS, failures + 1, retryAfter) : null,
      duration_ms: Math.round(performance.now() - startedAt),
    };
  }

  /** The status decides: what becomes of the body behind it is the receiver's affair. */
  private async send(claimed: ClaimedDispatch, signal: AbortSignal): Promise<HowItWent> {
    const { event_id, url, body } = claimed;
    let head: Head | undefined;
    try {
      const answer = await this.outbound.request(url, {
        purpose: 'webhook',
        method: 'POST',
        headers: signedHeaders(event_id, body, this.secretsOf(claimed)),
        body,
        timeoutMs: this.config.webhookTimeoutMs,
        maxResponseBytes: MAX_READ,
        signal,
        onHead: (arrived) => (head = arrived),
      });
      return answered(answer, answer.body);
    } catch (error) {
      if (head) return answered(head);
      const nothing = { status_code: null, response_snippet: null };
      if (error instanceof OutboundError) return { outcome: 'failed', error: errorOf(error), ...nothing };
      if (signal.aborted) return { outcome: 'lost', error: 'connect_failed', ...nothing };
      throw error;
    }
  }

  private secretsOf({ secret, old_secret, endpoint_id }: ClaimedDispatch): string[] {
    const key = this.secrets.derive('webhook-secrets');
    return [secret, old_secret].flatMap((sealed) => (sealed ? [unseal(sealed, key, endpoint_id)] : []));
  }
}

function answered({ status, headers }: Head, body: Buffer = Buffer.alloc(0)): HowItWent {
  const delivered = status >= 200 && status < 300;
  return {
    outcome: delivered ? 'delivered' : 'failed',
    status_code: status,
    error: delivered ? null : 'http_status',
    response_snippet: snippetOf(body),
    retryAfter: headers['retry-after'],
  };
}

/** The kinds that only images know cannot happen here. */
function errorOf({ kind }: OutboundError): DeliveryError {
  return DELIVERY_ERRORS.find((known) => known === kind) ?? 'connect_failed';
}
