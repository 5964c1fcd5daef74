import { Injectable } from '@nestjs/common';
import { DataSource, LessThan } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config.ts';
import { DAY_S } from '../../platform/time.ts';
import { type ResentEvent, SendAgain } from '../sql/send-again.ts';
import { eventBody } from '../events/event-body.ts';
import { TEST_EVENT } from '../events/event-type.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';
import { isEventId, newEventId } from '../webhook-id.ts';
import { toEndpointView } from '../webhook.view.ts';
import { type Page, EndpointsService } from '../endpoints/endpoints.service.ts';

/** What was sent to a key's endpoints, and sending it again. Every call is bound to the key. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
    private readonly webhooks: EndpointsService,
    private readonly again: SendAgain,
  ) {}

  /** Attempts, newest first. @throws ApiError webhook_endpoint_not_found */
  async list(apiKeyId: string, id: string, page: Page): Promise<{ deliveries: WebhookDelivery[]; hasMore: boolean }> {
    await this.webhooks.find(apiKeyId, id);
    const deliveries = await this.dataSource.manager.find(WebhookDelivery, {
      where: { endpoint_id: id, ...(page.after !== undefined && { id: LessThan(page.after) }) },
      order: { id: 'desc' },
      take: page.limit + 1,
    });
    return { deliveries: deliveries.slice(0, page.limit), hasMore: deliveries.length > page.limit };
  }

  /**
   * Sends the endpoint an event about itself, once. Works on a disabled one too.
   * @returns the id of the event
   * @throws ApiError webhook_endpoint_not_found
   */
  async test(apiKeyId: string, id: string): Promise<string> {
    const endpoint = await this.webhooks.find(apiKeyId, id);
    const eventId = newEventId();
    const createdAt = new Date();
    await this.again.test(id, {
      id: eventId,
      apiKeyId,
      body: eventBody(eventId, TEST_EVENT, toEndpointView(endpoint), createdAt),
      createdAt,
      retentionS: this.config.taskRetentionDays * DAY_S,
    });
    return eventId;
  }

  /** To every enabled endpoint that takes it. @throws ApiError webhook_event_not_found */
  async redeliver(apiKeyId: string, eventId: string): Promise<ResentEvent> {
    const event = isEventId(eventId) ? await this.again.redeliver(apiKeyId, eventId) : null;
    if (!event) throw new ApiError('webhook_event_not_found', { param: 'id' });
    return event;
  }

  /**
   * Sends again what the endpoint has not got since then.
   * @param since unix seconds
   * @returns how many events
   * @throws ApiError webhook_endpoint_not_found; invalid_value while the endpoint is disabled
   */
  async recover(apiKeyId: string, id: string, since: number): Promise<number> {
    const { status } = await this.webhooks.find(apiKeyId, id);
    if (status === 'disabled') {
      throw new ApiError('invalid_value', { message: 'This endpoint is disabled; set its status to enabled first.' });
    }
    return this.again.recover(id, since);
  }
}
