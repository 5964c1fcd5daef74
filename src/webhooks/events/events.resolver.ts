import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, Scope } from '../../auth/access.ts';
import type { Caller } from '../../auth/caller.ts';
import { DeliveriesService } from '../deliveries/deliveries.service.ts';
import { toEventView, WebhookEventView } from './event.view.ts';

@Resolver()
@Scope('webhooks:manage')
export class EventsResolver {
  constructor(private readonly deliveries: DeliveriesService) {}

  @CountsAs('create')
  @Mutation(() => WebhookEventView, {
    description: 'Sends an event again to every enabled endpoint that subscribes to its type.',
  })
  async redeliverWebhookEvent(
    @CurrentCaller() caller: Caller,
    @Args('id', { type: () => String, description: 'identifier of the event' }) id: string,
  ): Promise<WebhookEventView> {
    return toEventView(await this.deliveries.redeliver(caller.apiKeyId, id));
  }
}
