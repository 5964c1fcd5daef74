import { Args, Float, Mutation, Query, Resolver } from '@nestjs/graphql';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { EndpointId } from './endpoint-id.arg.ts';
import { CreateWebhookEndpointInput, RotateWebhookSecretInput, UpdateWebhookEndpointInput } from './endpoint.inputs.ts';
import { DeletedWebhookEndpointView, toEndpointView, WebhookEndpointView } from './endpoint.view.ts';
import { EndpointsService, MAX_ENDPOINTS } from './endpoints.service.ts';

@Resolver()
@RequireScope('webhooks:manage')
export class EndpointsResolver {
  constructor(private readonly endpoints: EndpointsService) {}

  @Query(() => [WebhookEndpointView], { description: 'The webhook endpoints of your API key, newest first.' })
  async webhookEndpoints(@CurrentCaller() caller: Caller): Promise<WebhookEndpointView[]> {
    const { endpoints } = await this.endpoints.list(caller.apiKeyId, { limit: MAX_ENDPOINTS });
    return endpoints.map((endpoint) => toEndpointView(endpoint));
  }

  @Query(() => WebhookEndpointView, { description: 'One webhook endpoint of your API key.' })
  async webhookEndpoint(@CurrentCaller() caller: Caller, @EndpointId() id: string): Promise<WebhookEndpointView> {
    return toEndpointView(await this.endpoints.find(caller.apiKeyId, id));
  }

  @Mutation(() => WebhookEndpointView, {
    description: 'Creates an endpoint. Only this response contains its secret.',
  })
  async createWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @Args('input', { description: 'the endpoint to create' }) input: CreateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    const { endpoint, secret } = await this.endpoints.create(caller.apiKeyId, input);
    return toEndpointView(endpoint, secret);
  }

  @Mutation(() => WebhookEndpointView, { description: 'Changes the given fields, or enables the endpoint again.' })
  async updateWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
    @Args('input', { description: 'the fields to change' }) input: UpdateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    return toEndpointView(await this.endpoints.update(caller.apiKeyId, id, input));
  }

  @Mutation(() => DeletedWebhookEndpointView, { description: 'Deletes an endpoint and its delivery log.' })
  async deleteWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
  ): Promise<DeletedWebhookEndpointView> {
    await this.endpoints.delete(caller.apiKeyId, id);
    return { id };
  }

  @Mutation(() => WebhookEndpointView, {
    description: 'Gives an endpoint a new secret. Only this response contains it.',
  })
  async rotateWebhookSecret(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
    @Args('keepOldSecretForHours', {
      type: () => Float,
      nullable: true,
      description: 'hours during which the old secret signs as well, 0 to 168; 0 when left out',
    })
    hours: number | null | undefined,
  ): Promise<WebhookEndpointView> {
    const input = checkArguments(RotateWebhookSecretInput, { keep_old_secret_for_hours: hours });
    const { endpoint, secret } = await this.endpoints.rotateSecret(
      caller.apiKeyId,
      id,
      input.keep_old_secret_for_hours,
    );
    return toEndpointView(endpoint, secret);
  }
}
