import { Args, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { CurrentCaller } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ReadEndpointStats } from '../sql/endpoint-stats.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { EndpointStatsQuery, EndpointStatsView, toStatsView } from './endpoint-stats.view.ts';
import { WebhookEndpointView } from './endpoint.view.ts';

@Resolver(() => WebhookEndpointView)
export class EndpointStatsResolver {
  constructor(private readonly reads: ReadEndpointStats) {}

  @ResolveField(() => EndpointStatsView, { description: 'Recent figures of the endpoint.' })
  async stats(
    @CurrentCaller() { apiKeyId }: Caller,
    @Parent() { id }: WebhookEndpointView,
    @Args('hours', { type: () => Int, nullable: true, defaultValue: 24, description: 'hours to look back, 1 to 720' })
    hours: number | null,
  ): Promise<EndpointStatsView> {
    const query = checkArguments(EndpointStatsQuery, { hours });
    return toStatsView(await this.reads.of(apiKeyId, id, query.hours ?? 24));
  }
}
