import { Args, Mutation, Query, Resolver, Subscription } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../../platform/graphql/connection.ts';
import type { PullQueue } from '../../platform/run/pull-queue.ts';
import { LongScalar } from '../../platform/schema/long-scalar.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { EndpointId } from '../endpoints/endpoint-id.arg.ts';
import type { ListedDelivery } from '../sql/list-deliveries.ts';
import { WatchDeliveries } from './watch-deliveries.ts';
import { DeliveryFilter } from '../record/delivery-filter.ts';
import { DeliveriesService } from './deliveries.service.ts';
import { ListWebhookDeliveriesQuery, RecoverWebhookEndpointInput } from './delivery.inputs.ts';
import { toDeliveryView, WebhookDeliveryView, WebhookRecoveryView, WebhookTestView } from './delivery.view.ts';

const WebhookDeliveryConnection = connectionOf(WebhookDeliveryView, 'WebhookDelivery');

@Resolver()
@RequireScope('webhooks:manage')
export class DeliveriesResolver {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly live: WatchDeliveries,
  ) {}

  @Query(() => WebhookDeliveryConnection, { description: 'The delivery attempts to an endpoint, newest first.' })
  async webhookDeliveries(
    @CurrentCaller() caller: Caller,
    @EndpointId('endpointId') endpointId: string,
    @First() first: number,
    @After() after: string | null | undefined,
    @Args('filter', { type: () => DeliveryFilter, nullable: true, description: 'selects attempts; all when left out' })
    filter?: DeliveryFilter | null,
  ): Promise<Connection<WebhookDeliveryView>> {
    const page = checkArguments(ListWebhookDeliveriesQuery, { after });
    const { deliveries, hasMore } = await this.deliveries.list(caller.apiKeyId, endpointId, {
      after: page.after,
      limit: first,
      filter: filter ?? {},
    });
    return toConnection(deliveries.map(toDeliveryView), ({ id }) => id, { hasMore, after });
  }

  @CountsAs('create')
  @Mutation(() => WebhookTestView, { description: 'Sends the endpoint one test event.' })
  async testWebhookEndpoint(@CurrentCaller() caller: Caller, @EndpointId() id: string): Promise<WebhookTestView> {
    return { event_id: await this.deliveries.test(caller.apiKeyId, id) };
  }

  @CountsAs('create')
  @Mutation(() => WebhookRecoveryView, {
    description: 'Resends the events since a given time that the endpoint has not accepted.',
  })
  async recoverWebhookEndpoint(
    @CurrentCaller() caller: Caller,
    @EndpointId() id: string,
    @Args('since', { type: () => LongScalar, description: 'unix seconds' }) since: number,
  ): Promise<WebhookRecoveryView> {
    checkArguments(RecoverWebhookEndpointInput, { since });
    return { events: await this.deliveries.recover(caller.apiKeyId, id, since) };
  }

  @Subscription(() => WebhookDeliveryView, {
    description: 'The attempts from now on, each when it has ended. A slow subscriber may miss some: the log has all.',
    resolve: toDeliveryView,
  })
  webhookDelivered(
    @CurrentCaller() { apiKeyId }: Caller,
    @Args('endpointId', {
      type: () => String,
      nullable: true,
      description: 'the attempts at this endpoint; at all of them when left out',
    })
    endpointId: string | null | undefined,
  ): Promise<PullQueue<ListedDelivery>> {
    return this.live.follow(apiKeyId, endpointId ?? null);
  }
}
