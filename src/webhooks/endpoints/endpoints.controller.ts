import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, Scope } from '../../auth/access.ts';
import type { Caller } from '../../auth/caller.ts';
import { DeliveriesService } from '../deliveries/deliveries.service.ts';
import {
  CreateWebhookEndpointInput,
  ListWebhookDeliveriesQuery,
  ListWebhookEndpointsQuery,
  RecoverWebhookEndpointInput,
  RotateWebhookSecretInput,
  UpdateWebhookEndpointInput,
} from '../webhook.inputs.ts';
import {
  toDeliveryView,
  toEndpointView,
  toListView,
  WebhookDeliveryListView,
  WebhookEndpointListView,
  WebhookEndpointView,
  WebhookRecoveryView,
  WebhookTestView,
} from '../webhook.view.ts';
import { EndpointsService } from './endpoints.service.ts';

@ApiTags('webhooks')
@Controller('v1/webhook_endpoints')
@Scope('webhooks:manage')
export class EndpointsController {
  constructor(
    private readonly webhooks: EndpointsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Register an endpoint; its secret is shown this once',
    operationId: 'createWebhookEndpoint',
  })
  @ApiCreatedResponse({ type: WebhookEndpointView })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() input: CreateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    const { endpoint, secret } = await this.webhooks.create(caller.apiKeyId, input);
    return toEndpointView(endpoint, secret);
  }

  @Get()
  @ApiOperation({ summary: 'List endpoints, newest first', operationId: 'listWebhookEndpoints' })
  @ApiOkResponse({ type: WebhookEndpointListView })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() { limit = 100, after }: ListWebhookEndpointsQuery,
  ): Promise<WebhookEndpointListView> {
    const { endpoints, hasMore } = await this.webhooks.list(caller.apiKeyId, { limit, after });
    return toListView(
      endpoints.map((endpoint) => toEndpointView(endpoint)),
      hasMore,
    );
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an endpoint', operationId: 'getWebhookEndpoint' })
  @ApiOkResponse({ type: WebhookEndpointView })
  async find(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookEndpointView> {
    return toEndpointView(await this.webhooks.find(caller.apiKeyId, id));
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Change an endpoint, or enable it again', operationId: 'updateWebhookEndpoint' })
  @ApiOkResponse({ type: WebhookEndpointView })
  async update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() input: UpdateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    return toEndpointView(await this.webhooks.update(caller.apiKeyId, id, input));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete an endpoint and its log', operationId: 'deleteWebhookEndpoint' })
  @ApiNoContentResponse()
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    await this.webhooks.delete(caller.apiKeyId, id);
  }

  @Post(':id/rotate_secret')
  @HttpCode(200)
  @ApiOperation({ summary: 'Give an endpoint a new secret, shown this once', operationId: 'rotateWebhookSecret' })
  @ApiOkResponse({ type: WebhookEndpointView })
  async rotateSecret(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() input: RotateWebhookSecretInput,
  ): Promise<WebhookEndpointView> {
    const { endpoint, secret } = await this.webhooks.rotateSecret(caller.apiKeyId, id, input.keep_old_secret_for_hours);
    return toEndpointView(endpoint, secret);
  }

  @Post(':id/test')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send a test event, once', operationId: 'testWebhookEndpoint' })
  @ApiOkResponse({ type: WebhookTestView })
  async test(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookTestView> {
    return { event_id: await this.deliveries.test(caller.apiKeyId, id) };
  }

  @Get(':id/deliveries')
  @ApiOperation({ summary: 'List the attempts, newest first', operationId: 'listWebhookDeliveries' })
  @ApiOkResponse({ type: WebhookDeliveryListView })
  async listDeliveries(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { limit = 20, after }: ListWebhookDeliveriesQuery,
  ): Promise<WebhookDeliveryListView> {
    const { deliveries, hasMore } = await this.deliveries.list(caller.apiKeyId, id, { limit, after });
    return toListView(deliveries.map(toDeliveryView), hasMore);
  }

  @Post(':id/recover')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send again what failed since a time', operationId: 'recoverWebhookEndpoint' })
  @ApiOkResponse({ type: WebhookRecoveryView })
  async recover(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() { since }: RecoverWebhookEndpointInput,
  ): Promise<WebhookRecoveryView> {
    return { events: await this.deliveries.recover(caller.apiKeyId, id, since) };
  }
}
