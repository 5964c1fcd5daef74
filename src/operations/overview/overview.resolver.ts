import { ResolveField, Resolver } from '@nestjs/graphql';
import { OperationsView } from '../views/operations.view.ts';
import { OperationsOverviewView } from './overview.view.ts';
import { OverviewService } from './overview.service.ts';

@Resolver(() => OperationsView)
export class OverviewResolver {
  constructor(private readonly service: OverviewService) {}

  @ResolveField(() => OperationsOverviewView, { description: 'How the service is doing.' })
  overview(): Promise<OperationsOverviewView> {
    return this.service.overview();
  }
}
