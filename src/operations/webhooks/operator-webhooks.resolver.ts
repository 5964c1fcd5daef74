import { ResolveField, Resolver } from '@nestjs/graphql';
import { OperationsView } from '../views/operations.view.ts';
import { OperatorWebhooks } from './operator-webhooks.ts';
import { OperatorWebhooksView } from './operator-webhooks.view.ts';

@Resolver(() => OperationsView)
export class OperatorWebhooksResolver {
  constructor(private readonly service: OperatorWebhooks) {}

  @ResolveField(() => OperatorWebhooksView, { description: 'How the webhooks of all API keys are doing.' })
  webhooks(): Promise<OperatorWebhooksView> {
    return this.service.overview();
  }
}
