import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { isAhead } from '../../platform/database/past.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import { toEndpointView } from '../endpoints/endpoint.view.ts';
import { EndpointsService, type Page } from '../endpoints/endpoints.service.ts';
import { eventBody } from '../record/event-body.ts';
import { TEST_EVENT } from '../record/event-type.ts';
import { ResendEvents, type ResentEvent } from '../sql/resend-events.ts';
import { isEventId, newEventId } from '../record/webhook-id.ts';
import type { DeliveryFilter } from '../record/delivery-filter.ts';
import { DeliverySignal } from './delivery-signal.ts';
import { type EndpointStats, ReadEndpointStats } from '../sql/endpoint-stats.ts';
import { ListDeliveries, type ListedDelivery } from '../sql/list-deliveries.ts';
import { WebhookEvent } from '../record/webhook-event.entity.ts';

const MAX_ATTEMPTS_SHOWN = 100;

/** Lists and repeats deliveries to the endpoints of a key. Every call finds only what belongs to the given key. */
@Injectable()
export class DeliveriesService {
  constructor(
    @InjectRepository(WebhookEvent) private readonly events: Repository<WebhookEvent>,
    private readonly lists: ListDeliveries,
    private readonly reads: ReadEndpointStats,
    private readonly config: Config,
    private readonly endpoints: EndpointsService,
    private readonly resend: ResendEvents,
    private readonly signal: DeliverySignal,
  ) {}

  /** The attempts at an endpoint, newest first. @throws ApiError webhook_endpoint_not_found */
  async list(
    apiKeyId: string,
    id: string,
    { filter = {}, ...page }: Page & { filter?: DeliveryFilter },
  ): Promise<{ deliveries: ListedDelivery[]; hasMore: boolean }> {
    await this.endpoints.find(apiKeyId, id);
    const deliveries = await this.lists.ofEndpoint(id, filter, { ...page, limit: page.limit + 1 });
    return { deliveries: deliveries.slice(0, page.limit), hasMore: deliveries.length > page.limit };
  }

  /** @throws ApiError webhook_endpoint_not_found */
  async stats(apiKeyId: string, id: string, hours: number): Promise<EndpointStats> {
    await this.endpoints.find(apiKeyId, id);
    return this.reads.of(apiKeyId, id, hours);
  }

  /** An event with its newest attempts, at most `MAX_ATTEMPTS_SHOWN`. @throws ApiError webhook_event_not_found */
  async event(apiKeyId: string, id: string): Promise<{ event: WebhookEvent; deliveries: ListedDelivery[] }> {
    const event = isEventId(id)
      ? await this.events.findOneBy({ id, api_key_id: apiKeyId, expires_at: isAhead() })
      : null;
    if (!event) throw new ApiError('webhook_event_not_found', { param: 'id' });
    return { event, deliveries: await this.lists.ofEvent(id, MAX_ATTEMPTS_SHOWN) };
  }

  /**
   * Sends a test event to the endpoint, even if the endpoint is disabled. The endpoint itself is the data of the event.
   * @returns the id of the event
   * @throws ApiError webhook_endpoint_not_found
   */
  async test(apiKeyId: string, id: string): Promise<string> {
    const endpoint = await this.endpoints.find(apiKeyId, id);
    const eventId = newEventId();
    const createdAt = new Date();
    const isStored = await this.resend.test(id, {
      id: eventId,
      apiKeyId,
      body: eventBody(eventId, TEST_EVENT, toEndpointView(endpoint), createdAt),
      createdAt,
      retentionS: this.config.taskRetentionDays * DAY_S,
    });
    if (!isStored) throw new ApiError('webhook_endpoint_not_found', { param: 'id' });
    this.signal.notify([id]);
    return eventId;
  }

  /**
   * Sends an event again to every enabled endpoint that subscribes to its type.
   * @param endpointId if given, only this endpoint gets the event, under the same conditions
   * @throws ApiError webhook_event_not_found, webhook_endpoint_not_found
   */
  async redeliver(apiKeyId: string, eventId: string, endpointId?: string | null): Promise<ResentEvent> {
    if (typeof endpointId === 'string') await this.endpoints.find(apiKeyId, endpointId);
    const event = isEventId(eventId) ? await this.resend.redeliver(apiKeyId, eventId, endpointId ?? null) : null;
    if (!event) throw new ApiError('webhook_event_not_found', { param: 'id' });
    this.signal.notify(event.endpoint_ids);
    return event;
  }

  /**
   * Sends again the events that the endpoint has not accepted and that were created from `since` on. Leaves out events
   * that are in flight, and events that are due and have not failed: they are sent anyway.
   * @param since unix seconds
   * @returns the number of events
   * @throws ApiError webhook_endpoint_not_found; invalid_value while the endpoint is disabled
   */
  async recover(apiKeyId: string, id: string, since: number): Promise<number> {
    const { status } = await this.endpoints.find(apiKeyId, id);
    if (status === 'disabled') {
      throw new ApiError('invalid_value', { message: 'This endpoint is disabled; set its status to enabled first.' });
    }
    const events = await this.resend.recover(id, since);
    this.signal.notify([id]);
    return events;
  }
}
