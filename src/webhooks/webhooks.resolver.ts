import { Args, Float, Int, Mutation, Query, Resolver } from '@nestjs/graphql';
import { CurrentCaller, Scope } from '../auth/access.ts';
import type { Caller } from '../auth/caller.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../platform/graphql/connection.ts';
import { ValidationPipe } from '../platform/schema/validation.pipe.ts';
import { DeliveriesService } from './deliveries/deliveries.service.ts';
import {
  CreateWebhookEndpointInput,
  ListWebhookDeliveriesQuery,
  RecoverWebhookEndpointInput,
  RotateWebhookSecretInput,
  UpdateWebhookEndpointInput,
} from './webhook.inputs.ts';
import {
  DeletedWebhookEndpointView,
  toDeliveryView,
  toEndpointView,
  toEventView,
  WebhookDeliveryView,
  WebhookEndpointView,
  WebhookEventView,
  WebhookRecoveryView,
  WebhookTestView,
} from './webhook.view.ts';
import { MAX_ENDPOINTS, EndpointsService } from './endpoints/endpoints.service.ts';

const WebhookDeliveryConnection = connectionOf(WebhookDeliveryView, 'WebhookDelivery');
type Maybe<T> = T | null | undefined;

const EndpointId = (name = 'id'): ParameterDecorator =>
  Args(name, { type: () => String, description: 'identifier of the endpoint' });

@Resolver()
@Scope('webhooks:manage')
export class WebhooksResolver {
  constructor(
    private readonly webhooks: EndpointsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  @Query(() => [WebhookEndpointView], { description: 'The webhook endpoints of your API key, newest first.' })
  async webhookEndpoints(@CurrentCaller() caller: Caller): Promise<WebhookEndpointView[]> {
    const { endpoints } = await this.webhooks.list(caller.apiKeyId, { limit: MAX_ENDPOINTS });
    return endpoints.map((endpoint) => toEndpointView(endpoint));
  }

  @Query(() => WebhookDeliveryConnection, { description: 'Every attempt to tell an endpoint, newest first.' })
  async webhookDeliveries(
    @CurrentCaller() caller: Caller,
    @EndpointId('endpointId') endpointId: string,
    @First() first: number,
    @After() after: Maybe<string>,
  ): Promise<Connection<WebhookDeliveryView>> {
    const page = checked(ListWebhookDeliveriesQuery, { after });
    const { deliveries, hasMore } = await this.deliveries.list(caller.apiKeyId, endpointId, {
      ...page,
      limit: first,
    });
    return toConnection(deliveries.map(toDeliveryView), ({ id }) => id, { hasMore, after });
  }

  @Mutation(() => WebhookEndpointView, { description: 'Registers an endpoint; its secret is shown this once.' })
  async createWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @Args('input', { description: 'the endpoint' }) input: CreateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    const { endpoint, secret } = await this.webhooks.create(caller.apiKeyId, input);
    return toEndpointView(endpoint, secret);
  }

  @Mutation(() => WebhookEndpointView, { description: 'Changes what is given, or enables the endpoint again.' })
  async updateWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
    @Args('input', { description: 'what changes' }) input: UpdateWebhookEndpointInput,
  ): Promise<WebhookEndpointView> {
    return toEndpointView(await this.webhooks.update(caller.apiKeyId, id, input));
  }

  @Mutation(() => DeletedWebhookEndpointView, { description: 'Deletes an endpoint and its log.' })
  async deleteWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
  ): Promise<DeletedWebhookEndpointView> {
    await this.webhooks.delete(caller.apiKeyId, id);
    return { id };
  }

  @Mutation(() => WebhookEndpointView, { description: 'Gives an endpoint a new secret, shown this once.' })
  async rotateWebhookSecret(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
    @Args('keepOldSecretForHours', {
      type: () => Float,
      nullable: true,
      description: 'how long the old secret signs too, 0 to 168; not at all when left out',
    })
    hours: Maybe<number>,
  ): Promise<WebhookEndpointView> {
    const { keep_old_secret_for_hours } = checked(RotateWebhookSecretInput, { keep_old_secret_for_hours: hours });
    const { endpoint, secret } = await this.webhooks.rotateSecret(caller.apiKeyId, id, keep_old_secret_for_hours);
    return toEndpointView(endpoint, secret);
  }

  @Mutation(() => WebhookTestView, { description: 'Sends the endpoint a test event, once.' })
  async testWebhookEndpoint(@CurrentCaller() caller: Caller, @EndpointId() id: string): Promise<WebhookTestView> {
    return { event_id: await this.deliveries.test(caller.apiKeyId, id) };
  }

  @Mutation(() => WebhookEventView, { description: 'Sends an event again to every enabled endpoint that takes it.' })
  async redeliverWebhookEvent(
    @CurrentCaller() caller: Caller,
    @Args('id', { type: () => String, description: 'identifier of the event' }) id: string,
  ): Promise<WebhookEventView> {
    return toEventView(await this.deliveries.redeliver(caller.apiKeyId, id));
  }

  @Mutation(() => WebhookRecoveryView, { description: 'Sends again what the endpoint has not got since a time.' })
  async recoverWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
    @Args('since', { type: () => Int, description: 'unix seconds' }) since: number,
  ): Promise<WebhookRecoveryView> {
    checked(RecoverWebhookEndpointInput, { since });
    return { events: await this.deliveries.recover(caller.apiKeyId, id, since) };
  }
}

const pipe = new ValidationPipe();

/** Single arguments are held to the rules of the REST input; in GraphQL null means not given. */
function checked<Input extends object>(input: new () => Input, values: object): Input {
  const given = Object.entries(values).filter(([, value]) => value !== null && value !== undefined);
  return pipe.transform(Object.fromEntries(given), { type: 'body', metatype: input }) as Input;
}
