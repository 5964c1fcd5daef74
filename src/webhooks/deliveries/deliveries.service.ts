import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config.ts';
import { DAY_S } from '../../platform/time.ts';
import { toEndpointView } from '../endpoints/endpoint.view.ts';
import { EndpointsService, type Page } from '../endpoints/endpoints.service.ts';
import { eventBody } from '../events/event-body.ts';
import { TEST_EVENT } from '../events/event-type.ts';
import { ResendEvents, type ResentEvent } from '../sql/resend-events.ts';
import { isEventId, newEventId } from '../webhook-id.ts';
import { WebhookDelivery } from './webhook-delivery.entity.ts';

/** Lists and repeats deliveries to the endpoints of a key. Every call is bound to the key. */
@Injectable()
export class DeliveriesService {
  constructor(
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
    private readonly config: Config,
    private readonly endpoints: EndpointsService,
    private readonly resend: ResendEvents,
  ) {}

  /** Attempts, newest first. @throws ApiError webhook_endpoint_not_found */
  async list(apiKeyId: string, id: string, page: Page): Promise<{ deliveries: WebhookDelivery[]; hasMore: boolean }> {
    await this.endpoints.find(apiKeyId, id);
    const deliveries = await this.deliveries.find({
      where: { endpoint_id: id, ...(page.after !== undefined && { id: LessThan(page.after) }) },
      order: { id: 'desc' },
      take: page.limit + 1,
    });
    return { deliveries: deliveries.slice(0, page.limit), hasMore: deliveries.length > page.limit };
  }

  /**
   * Sends the endpoint one event about itself. Works for a disabled endpoint too.
   * @returns the id of the event
   * @throws ApiError webhook_endpoint_not_found
   */
  async test(apiKeyId: string, id: string): Promise<string> {
    const endpoint = await this.endpoints.find(apiKeyId, id);
    const eventId = newEventId();
    const createdAt = new Date();
    await this.resend.test(id, {
      id: eventId,
      apiKeyId,
      body: eventBody(eventId, TEST_EVENT, toEndpointView(endpoint), createdAt),
      createdAt,
      retentionS: this.config.taskRetentionDays * DAY_S,
    });
    return eventId;
  }

  /** Sends an event to every enabled endpoint that subscribes to its type. @throws ApiError webhook_event_not_found */
  async redeliver(apiKeyId: string, eventId: string): Promise<ResentEvent> {
    const event = isEventId(eventId) ? await this.resend.redeliver(apiKeyId, eventId) : null;
    if (!event) throw new ApiError('webhook_event_not_found', { param: 'id' });
    return event;
  }

  /**
   * Sends again what the endpoint has not accepted since then.
   * @param since unix seconds
   * @returns the number of events
   * @throws ApiError webhook_endpoint_not_found; invalid_value while the endpoint is disabled
   */
  async recover(apiKeyId: string, id: string, since: number): Promise<number> {
    const { status } = await this.endpoints.find(apiKeyId, id);
    if (status === 'disabled') {
      throw new ApiError('invalid_value', { message: 'This endpoint is disabled; set its status to enabled first.' });
    }
    return this.resend.recover(id, since);
  }
}
