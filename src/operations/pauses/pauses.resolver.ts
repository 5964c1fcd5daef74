import { Args, Mutation, ResolveField, Resolver } from '@nestjs/graphql';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import { After, type Connection, connectionOf, First, toConnection } from '../../platform/graphql/connection.ts';
import { checkArguments } from '../../platform/http/input.pipe.ts';
import { OperationsView } from '../views/operations.view.ts';
import { Reason } from '../views/reason.arg.ts';
import { CreatePauseInput, ListPausesQuery } from './pause.inputs.ts';
import { EndedPauseView, PauseView } from './pause.view.ts';
import { PausesService } from './pauses.service.ts';

const PauseConnection = connectionOf(PauseView, 'Pause');

@Resolver(() => OperationsView)
export class PausesResolver {
  constructor(private readonly service: PausesService) {}

  @ResolveField(() => PauseConnection, { description: 'The pauses, newest first.' })
  async pauses(
    @First() first: number,
    @After() after: string | null | undefined,
    @Args('ended', {
      type: () => Boolean,
      defaultValue: false,
      description: 'whether pauses that have ended are listed too',
    })
    ended: boolean,
  ): Promise<Connection<PauseView>> {
    const page = checkArguments(ListPausesQuery, { after });
    const { pauses, hasMore } = await this.service.list({ ...page, limit: first, ended });
    return toConnection(pauses, ({ id }) => id, { hasMore, after });
  }

  @Mutation(() => PauseView, {
    description: 'Pauses a model, a provider or one place of a provider: their tasks wait.',
  })
  @RequireScope('operations:manage')
  createPause(
    @Args('input', { description: 'the pause to create' }) input: CreatePauseInput,
    @CurrentActor() actor: Actor,
  ): Promise<PauseView> {
    return this.service.create(input, actor);
  }

  @Mutation(() => EndedPauseView, { description: 'Ends a pause. The tasks that it held wait for a worker again.' })
  @RequireScope('operations:manage')
  async endPause(
    @Args('id', { type: () => String, description: 'identifier of the pause' }) id: string,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<EndedPauseView> {
    await this.service.end(id, because(actor, reason));
    return { id };
  }
}
