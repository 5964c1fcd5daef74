import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { CurrentCaller } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import { EndedSessionView, SessionView, toSessionView } from './session.view.ts';
import { SessionsService } from './sessions.service.ts';

@Resolver()
export class SessionsResolver {
  constructor(private readonly service: SessionsService) {}

  @Query(() => [SessionView], {
    description: 'The browsers that are signed in with the asking API key, the last used first.',
  })
  async sessions(@CurrentCaller() caller: Caller): Promise<SessionView[]> {
    return (await this.service.list(caller)).map((session) => toSessionView(session, caller.sessionId));
  }

  @Mutation(() => EndedSessionView, { description: 'Signs a browser out that is signed in with the asking API key.' })
  async endSession(
    @Args('id', { description: 'identifier' }) id: string,
    @CurrentCaller() caller: Caller,
  ): Promise<EndedSessionView> {
    await this.service.end(id, caller);
    return { id };
  }
}
