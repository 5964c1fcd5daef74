import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { DeliveriesService } from '../deliveries/deliveries.service.ts';
import { StoredEventView, toStoredEventView } from './stored-event.view.ts';
import { toEventView, WebhookEventView } from './event.view.ts';

@Resolver()
@RequireScope('webhooks:manage')
export class EventsResolver {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Query(() => StoredEventView, { description: 'One event with its body and the attempts to send it.' })
  async webhookEvent(
    @CurrentCaller() caller: Caller,
    @Args('id', { type: () => String, description: 'identifier of the event' }) id: string,
  ): Promise<StoredEventView> {
    const { event, deliveries } = await this.deliveries.event(caller.apiKeyId, id);
    return toStoredEventView(event, deliveries);
  }

  @CountsAs('create')
  @Mutation(() => WebhookEventView, {
    description: 'Sends an event again to every enabled endpoint that subscribes to its type.',
  })
  async redeliverWebhookEvent(
    @CurrentCaller() caller: Caller,
    @Args('id', { type: () => String, description: 'identifier of the event' }) id: string,
    @Args('endpointId', {
      type: () => String,
      nullable: true,
      description: 'only to this endpoint, which must be enabled and subscribe to the type; to all when left out',
    })
    endpointId: string | null | undefined,
  ): Promise<WebhookEventView> {
    return toEventView(await this.deliveries.redeliver(caller.apiKeyId, id, endpointId));
  }
}
