import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../../platform/graphql/connection.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { CreateShareInput, ListSharesQuery } from './share.inputs.ts';
import { ShareLinks } from './share-links.ts';
import { DeletedShareView, ShareView, toDeletedShareView, toShareView } from './share.view.ts';
import { Shares } from './shares.ts';

const ShareConnection = connectionOf(ShareView, 'Share');

@Resolver()
export class SharesResolver {
  constructor(
    private readonly service: Shares,
    private readonly links: ShareLinks,
  ) {}

  @Query(() => ShareConnection, { description: 'The shares of your API key that have not ended, newest first.' })
  @RequireScope('tasks:read')
  async shares(
    @CurrentCaller() { apiKeyId }: Caller,
    @First() first: number,
    @After() after: string | null | undefined,
  ): Promise<Connection<ShareView>> {
    const page = checkArguments(ListSharesQuery, { after: after ?? undefined });
    const { shares, hasMore } = await this.service.list(apiKeyId, { limit: first, after: page.after });
    const views = shares.map((share) => toShareView(share, this.links));
    return toConnection(views, ({ id }) => id, { hasMore, after });
  }

  @Mutation(() => ShareView, { description: 'Makes a page of files for people without a key.' })
  @RequireScope('generations:write')
  @CountsAs('create')
  async createShare(
    @CurrentActor() actor: Actor,
    @Args('input', { description: 'the share to create' }) input: CreateShareInput,
  ): Promise<ShareView> {
    return toShareView(await this.service.create(actor, input), this.links);
  }

  @Mutation(() => DeletedShareView, { description: 'Ends a share: nobody can open it from now on.' })
  @RequireScope('generations:write')
  async deleteShare(
    @CurrentActor() actor: Actor,
    @Args('id', { type: () => String, description: 'identifier of the share' }) id: string,
  ): Promise<DeletedShareView> {
    await this.service.delete(actor, id);
    return toDeletedShareView(id);
  }
}
