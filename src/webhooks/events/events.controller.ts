import { Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { DeliveriesService } from '../deliveries/deliveries.service.ts';
import { StoredEventView, toStoredEventView } from './stored-event.view.ts';
import { toEventView, WebhookEventView } from './event.view.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { ApiField } from '../../platform/schema/api-field.ts';

class RedeliverQuery {
  @ApiField.string('only to this endpoint, which must be enabled and subscribe to the type; to all when left out', {
    optional: true,
  })
  endpoint_id?: string;
}

@ApiTags('Webhooks')
@Controller('v1/webhook_events')
@RequireScope('webhooks:manage')
export class EventsController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Get(':id')
  @Fails('webhook_event_not_found')
  @ApiOperation({ summary: 'Read an event and the attempts to send it', operationId: 'getWebhookEvent' })
  @ApiOkResponse({ type: StoredEventView })
  async find(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<StoredEventView> {
    const { event, deliveries } = await this.deliveries.event(caller.apiKeyId, id);
    return toStoredEventView(event, deliveries);
  }

  @Post(':id/redeliver')
  @CountsAs('create')
  @HttpCode(200)
  @Fails('webhook_event_not_found', 'webhook_endpoint_not_found')
  @ApiOperation({ summary: 'Send an event again', operationId: 'redeliverWebhookEvent' })
  @ApiOkResponse({ type: WebhookEventView })
  async redeliver(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { endpoint_id: endpointId }: RedeliverQuery,
  ): Promise<WebhookEventView> {
    return toEventView(await this.deliveries.redeliver(caller.apiKeyId, id, endpointId));
  }
}
