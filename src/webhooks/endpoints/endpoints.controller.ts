import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiBody,
  ApiExtraModels,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiTags,
} from '@nestjs/swagger';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import {
  CreateWebhookEndpointInput,
  ListWebhookEndpointsQuery,
  RotateWebhookSecretInput,
  UpdateWebhookEndpointInput,
} from './endpoint.inputs.ts';
import { toEndpointView, WebhookEndpointListView, WebhookEndpointView } from './endpoint.view.ts';
import { EndpointsService } from './endpoints.service.ts';
import { toList } from '../../platform/schema/list-of.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { EVENT_BODIES } from './event-bodies.view.ts';

@ApiTags('Webhooks')
@ApiExtraModels(...EVENT_BODIES)
@Controller('v1/webhook_endpoints')
@RequireScope('webhooks:manage')
export class EndpointsController {
  constructor(private readonly endpoints: EndpointsService) {}

  @Post()
  @Fails('invalid_url', 'url_not_allowed')
  @ApiOperation({
    summary: 'Create an endpoint; only this response contains its secret',
    operationId: 'createWebhookEndpoint',
  })
  @ApiCreatedResponse({ type: WebhookEndpointView })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() input: CreateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    const { endpoint, secret } = await this.endpoints.create(caller.apiKeyId, input);
    return toEndpointView(endpoint, secret);
  }

  @Get()
  @ApiOperation({ summary: 'List endpoints, newest first', operationId: 'listWebhookEndpoints' })
  @ApiOkResponse({ type: WebhookEndpointListView })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() { limit = 100, after }: ListWebhookEndpointsQuery,
  ): Promise<WebhookEndpointListView> {
    const { endpoints, hasMore } = await this.endpoints.list(caller.apiKeyId, { limit, after });
    return toList(
      endpoints.map((endpoint) => toEndpointView(endpoint)),
      hasMore,
      ({ id }) => id,
    );
  }

  @Get(':id')
  @Fails('webhook_endpoint_not_found')
  @ApiOperation({ summary: 'Read an endpoint', operationId: 'getWebhookEndpoint' })
  @ApiOkResponse({ type: WebhookEndpointView })
  async find(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<WebhookEndpointView> {
    return toEndpointView(await this.endpoints.find(caller.apiKeyId, id));
  }

  @Patch(':id')
  @Fails('webhook_endpoint_not_found', 'invalid_url', 'url_not_allowed')
  @ApiOperation({ summary: 'Change an endpoint, or enable it again', operationId: 'updateWebhookEndpoint' })
  @ApiBody({ type: UpdateWebhookEndpointInput, required: false })
  @ApiOkResponse({ type: WebhookEndpointView })
  async update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() input: UpdateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    return toEndpointView(await this.endpoints.update(caller.apiKeyId, id, input));
  }

  @Delete(':id')
  @HttpCode(204)
  @Fails('webhook_endpoint_not_found')
  @ApiOperation({ summary: 'Delete an endpoint and its delivery log', operationId: 'deleteWebhookEndpoint' })
  @ApiNoContentResponse()
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    await this.endpoints.delete(caller.apiKeyId, id);
  }

  @Post(':id/rotate_secret')
  @HttpCode(200)
  @Fails('webhook_endpoint_not_found')
  @ApiOperation({
    summary: 'Give an endpoint a new secret; only this response contains it',
    operationId: 'rotateWebhookSecret',
  })
  @ApiBody({ type: RotateWebhookSecretInput, required: false })
  @ApiOkResponse({ type: WebhookEndpointView })
  async rotateSecret(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() input: RotateWebhookSecretInput,
  ): Promise<WebhookEndpointView> {
    const { endpoint, secret } = await this.endpoints.rotateSecret(
      caller.apiKeyId,
      id,
      input.keep_old_secret_for_hours,
    );
    return toEndpointView(endpoint, secret);
  }
}
