import { ResolveField, Resolver } from '@nestjs/graphql';
import { OperationsView } from '../views/operations.view.ts';
import { KeyQueueView } from './key-queue.view.ts';
import { KeyQueues } from './key-queues.ts';

@Resolver(() => OperationsView)
export class KeyQueuesResolver {
  constructor(private readonly service: KeyQueues) {}

  @ResolveField(() => [KeyQueueView], {
    description:
      'The API keys with unfinished tasks, refusals or failures: those with most unfinished tasks first, 100 at most.',
  })
  keys(): Promise<KeyQueueView[]> {
    return this.service.list();
  }
}
