import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CountsAs, CurrentCaller, Scope } from '../../auth/access.ts';
import type { Caller } from '../../auth/caller.ts';
import { DeliveriesService } from '../deliveries/deliveries.service.ts';
import { toEventView, WebhookEventView } from './event.view.ts';
import { Fails } from '../../platform/openapi/faults.ts';

@ApiTags('Webhooks')
@Controller('v1/webhook_events')
@Scope('webhooks:manage')
export class EventsController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Post(':id/redeliver')
  @CountsAs('create')
  @HttpCode(200)
  @Fails('webhook_event_not_found')
  @ApiOperation({ summary: 'Send an event again', operationId: 'redeliverWebhookEvent' })
  @ApiOkResponse({ type: WebhookEventView })
  async redeliver(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookEventView> {
    return toEventView(await this.deliveries.redeliver(caller.apiKeyId, id));
  }
}
