import type { CallOptions, Transport } from '../http/transport.ts';
import { type Pages, pages } from '../pages.ts';
import type {
  CreateWebhookEndpointInput,
  UpdateWebhookEndpointInput,
  WebhookDelivery,
  WebhookEndpoint,
} from '../types.gen.ts';

/** Endpoints to which the service sends signed events. */
export class WebhookEndpoints {
  constructor(private readonly transport: Transport) {}

  /** Only this answer and that of `rotateSecret` contain `secret`. */
  create(input: CreateWebhookEndpointInput, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json('POST', '/v1/webhook_endpoints', { ...options, body: input });
  }

  list(query: { limit?: number } = {}, options: CallOptions = {}): Pages<WebhookEndpoint> {
    return pages(this.transport, '/v1/webhook_endpoints', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json('GET', pathOf(id), options);
  }

  update(id: string, changes: UpdateWebhookEndpointInput, options: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.transport.json('PATCH', pathOf(id), { ...options, body: changes, isRepeatable: true });
  }

  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.transport.json('DELETE', pathOf(id), options);
  }

  /** @param keepOldForHours how long events are also signed with the old secret */
  rotateSecret(id: string, keepOldForHours = 0, options: CallOptions = {}): Promise<WebhookEndpoint> {
    const body = { keep_old_secret_for_hours: keepOldForHours };
    return this.transport.json('POST', `${pathOf(id)}/rotate_secret`, { ...options, body });
  }

  /** Sends a `webhook.test` event. */
  test(id: string, options: CallOptions = {}): Promise<{ event_id: string }> {
    return this.transport.json('POST', `${pathOf(id)}/test`, options);
  }

  /** Every attempt to deliver an event to the endpoint, newest first. */
  deliveries(id: string, query: { limit?: number } = {}, options: CallOptions = {}): Pages<WebhookDelivery> {
    return pages(this.transport, `${pathOf(id)}/deliveries`, query, options);
  }
}

const pathOf = (id: string): string => `/v1/webhook_endpoints/${encodeURIComponent(id)}`;
