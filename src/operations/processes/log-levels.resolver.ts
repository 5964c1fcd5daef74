import { Args, Mutation, ResolveField, Resolver } from '@nestjs/graphql';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { OperationsView } from '../views/operations.view.ts';
import { LogLevelsService } from './log-levels.service.ts';
import { LogLevelsView, SetLogLevelsInput } from './log-levels.view.ts';

@Resolver(() => OperationsView)
export class LogLevelsResolver {
  constructor(private readonly service: LogLevelsService) {}

  @ResolveField(() => LogLevelsView, { description: 'The log levels that an operator has set for all processes.' })
  logLevels(): Promise<LogLevelsView> {
    return this.service.read();
  }

  @Mutation(() => LogLevelsView, {
    description: 'Sets the log levels of all processes. What is left out goes back to the configuration.',
  })
  @RequireScope('operations:manage')
  setLogLevels(
    @Args('input', { description: 'the levels' }) input: SetLogLevelsInput,
    @CurrentActor() actor: Actor,
  ): Promise<LogLevelsView> {
    return this.service.set(input, actor);
  }
}
