import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { DeliveriesService } from './deliveries.service.ts';
import { ListWebhookDeliveriesQuery, RecoverWebhookEndpointInput } from './delivery.inputs.ts';
import { EndpointStatsQuery, EndpointStatsView, toStatsView } from '../endpoints/endpoint-stats.view.ts';
import { toDeliveryView, WebhookDeliveryListView, WebhookRecoveryView, WebhookTestView } from './delivery.view.ts';
import { toList } from '../../platform/schema/list-of.ts';
import { Fails } from '../../platform/openapi/faults.ts';

@ApiTags('Webhooks')
@Controller('v1/webhook_endpoints/:id')
@RequireScope('webhooks:manage')
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Post('test')
  @CountsAs('create')
  @HttpCode(200)
  @Fails('webhook_endpoint_not_found')
  @ApiOperation({ summary: 'Send one test event', operationId: 'testWebhookEndpoint' })
  @ApiOkResponse({ type: WebhookTestView })
  async test(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookTestView> {
    return { event_id: await this.deliveries.test(caller.apiKeyId, id) };
  }

  @Get('deliveries')
  @Fails('webhook_endpoint_not_found')
  @ApiOperation({ summary: 'List the delivery attempts, newest first', operationId: 'listWebhookDeliveries' })
  @ApiOkResponse({ type: WebhookDeliveryListView })
  async list(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { limit = 20, after, ...filter }: ListWebhookDeliveriesQuery,
  ): Promise<WebhookDeliveryListView> {
    const { deliveries, hasMore } = await this.deliveries.list(caller.apiKeyId, id, { limit, after, filter });
    return toList(deliveries.map(toDeliveryView), hasMore, ({ id }) => id);
  }

  @Get('stats')
  @Fails('webhook_endpoint_not_found')
  @ApiOperation({ summary: 'Read the recent figures of an endpoint', operationId: 'getWebhookEndpointStats' })
  @ApiOkResponse({ type: EndpointStatsView })
  async stats(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { hours = 24 }: EndpointStatsQuery,
  ): Promise<EndpointStatsView> {
    return toStatsView(await this.deliveries.stats(caller.apiKeyId, id, hours));
  }

  @Post('recover')
  @CountsAs('create')
  @HttpCode(200)
  @Fails('webhook_endpoint_not_found')
  @ApiOperation({
    summary: 'Resend the events since a given time that the endpoint has not accepted',
    operationId: 'recoverWebhookEndpoint',
  })
  @ApiOkResponse({ type: WebhookRecoveryView })
  async recover(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() { since }: RecoverWebhookEndpointInput,
  ): Promise<WebhookRecoveryView> {
    return { events: await this.deliveries.recover(caller.apiKeyId, id, since) };
  }
}
