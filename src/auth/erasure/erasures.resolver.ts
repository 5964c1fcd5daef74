import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { After, type Connection, First, toConnection } from '../../platform/graphql/connection.ts';
import { RequireScope } from '../access/access.ts';
import { type Actor, CurrentActor } from '../audit/actor.ts';
import { assertErasureAfter, ErasureConnection, ErasureView, toErasureView } from './erasure.view.ts';
import { Erasures } from './erasures.ts';

@Resolver()
@RequireScope('keys:manage')
export class ErasuresResolver {
  constructor(private readonly service: Erasures) {}

  @Query(() => ErasureConnection, { description: 'The erasures of API keys, newest first.' })
  async erasures(@First() limit: number, @After() after: string | null | undefined): Promise<Connection<ErasureView>> {
    const from = assertErasureAfter(after);
    const { erasures, hasMore } = await this.service.list({ limit, ...(from !== undefined && { after: from }) });
    return toConnection(erasures.map(toErasureView), ({ id }) => id, { hasMore, after });
  }

  @Query(() => ErasureView, {
    description: 'One erasure and its progress. An unknown id is the error erasure_not_found.',
  })
  async erasure(@Args('id', { description: 'identifier of the erasure' }) id: string): Promise<ErasureView> {
    return toErasureView(await this.service.find(id));
  }

  @Mutation(() => ErasureView, {
    description:
      'Revokes an API key, cancels its tasks, and erases everything that was sent with it or made for it, in the background.',
  })
  async eraseApiKey(
    @Args('id', { description: 'identifier of the API key, which may be revoked already' }) id: string,
    @CurrentActor() by: Actor,
  ): Promise<ErasureView> {
    return toErasureView(await this.service.start(id, by));
  }
}
