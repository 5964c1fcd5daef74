import { Args, Mutation, ResolveField, Resolver } from '@nestjs/graphql';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import { OperationsView } from '../views/operations.view.ts';
import { Reason } from '../views/reason.arg.ts';
import { ProcessView } from './process.view.ts';
import { ProcessesService } from './processes.service.ts';

const ProcessId = (): ParameterDecorator =>
  Args('id', { type: () => String, description: 'identifier of the process' });

@Resolver(() => OperationsView)
export class ProcessesResolver {
  constructor(private readonly service: ProcessesService) {}

  @ResolveField(() => [ProcessView], { description: 'The processes of the service, by role and then by start.' })
  processes(): Promise<ProcessView[]> {
    return this.service.list();
  }

  @ResolveField(() => ProcessView, { description: 'One process. An unknown id is the error process_not_found.' })
  process(@ProcessId() id: string): Promise<ProcessView> {
    return this.service.find(id);
  }

  @Mutation(() => ProcessView, { description: 'Lets a process claim no more tasks. What it runs goes on to its end.' })
  @RequireScope('operations:manage')
  drainProcess(
    @ProcessId() id: string,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<ProcessView> {
    return this.service.drain(id, true, because(actor, reason));
  }

  @Mutation(() => ProcessView, { description: 'Lets a drained process claim tasks again.' })
  @RequireScope('operations:manage')
  resumeProcess(
    @ProcessId() id: string,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<ProcessView> {
    return this.service.drain(id, false, because(actor, reason));
  }
}
