import { Args, Mutation, ResolveField, Resolver } from '@nestjs/graphql';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../../platform/graphql/connection.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { OperationsView } from '../views/operations.view.ts';
import { ListReplaysQuery, ReplayWebhooksInput, WebhookReplayView } from './replay.view.ts';
import { OperatorReplays } from './operator-replays.ts';

const WebhookReplayConnection = connectionOf(WebhookReplayView, 'WebhookReplay');

const ReplayId = (): ParameterDecorator => Args('id', { type: () => String, description: 'identifier of the replay' });

@Resolver(() => OperationsView)
export class ReplaysResolver {
  constructor(private readonly service: OperatorReplays) {}

  @ResolveField(() => WebhookReplayConnection, { description: 'The webhook replays, newest first.' })
  async webhookReplays(
    @First() first: number,
    @After() after: string | null | undefined,
  ): Promise<Connection<WebhookReplayView>> {
    const page = checkArguments(ListReplaysQuery, { after });
    const { replays, hasMore } = await this.service.list({ ...page, limit: first });
    return toConnection(replays, ({ id }) => id, { hasMore, after });
  }

  @ResolveField(() => WebhookReplayView, {
    description: 'One webhook replay and its progress. An unknown id is the error webhook_replay_not_found.',
  })
  webhookReplay(@ReplayId() id: string): Promise<WebhookReplayView> {
    return this.service.find(id);
  }

  @Mutation(() => WebhookReplayView, { description: 'Resends the webhook events of a time range.' })
  @RequireScope('operations:manage')
  replayWebhooks(
    @Args('input', { description: 'which events' }) input: ReplayWebhooksInput,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookReplayView> {
    return this.service.create(input, actor);
  }

  @Mutation(() => WebhookReplayView, { description: 'Stops a webhook replay. What it has queued is delivered.' })
  @RequireScope('operations:manage')
  cancelWebhookReplay(@ReplayId() id: string, @CurrentActor() actor: Actor): Promise<WebhookReplayView> {
    return this.service.cancel(id, actor);
  }
}
