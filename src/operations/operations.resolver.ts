import { Query, Resolver, Subscription } from '@nestjs/graphql';
import { RequireScope } from '../auth/access/access.ts';
import { OPERATIONS, OperationsView } from './views/operations.view.ts';
import { OperationsUpdates } from './operations-updates.ts';
import type { PullQueue } from '../platform/run/pull-queue.ts';

/**
 * Guards run for root fields only. The guard of these two root fields also protects the fields of `Operations` below
 * them.
 */
@Resolver()
@RequireScope('operations:read')
export class OperationsResolver {
  constructor(private readonly updates: OperationsUpdates) {}

  @Query(() => OperationsView, { description: 'What an operator sees of the service.' })
  operations(): OperationsView {
    return OPERATIONS;
  }

  @Subscription(() => OperationsView, {
    description: 'What an operator sees of the service: at once, and then every two seconds.',
    resolve: () => OPERATIONS,
  })
  operationsUpdated(): PullQueue<true> {
    return this.updates.follow();
  }
}
