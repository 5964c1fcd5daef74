import { Args, Int, Mutation, ResolveField, Resolver } from '@nestjs/graphql';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import { OperationsView } from '../views/operations.view.ts';
import { Reason } from '../views/reason.arg.ts';
import { ProviderPlaceView } from './provider-place.view.ts';
import { OperatorProviders } from './operator-providers.ts';

@Resolver(() => OperationsView)
export class ProvidersResolver {
  constructor(private readonly service: OperatorProviders) {}

  @ResolveField(() => [ProviderPlaceView], { description: 'The places of the providers, by number.' })
  providers(): Promise<ProviderPlaceView[]> {
    return this.service.list();
  }

  @Mutation(() => ProviderPlaceView, {
    description: 'Closes the circuit of a place, so that all processes call it again.',
  })
  @RequireScope('operations:manage')
  closeCircuit(
    @Args('place', { type: () => Int, description: 'number of the place' }) place: number,
    @Reason() reason: string | undefined,
    @CurrentActor() actor: Actor,
  ): Promise<ProviderPlaceView> {
    return this.service.closeCircuit(String(place), because(actor, reason));
  }
}
