import { Args, Query, Resolver } from '@nestjs/graphql';
import { CurrentCaller } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { ModelView } from './model.view.ts';
import { ModelsService } from './models.service.ts';

@Resolver()
export class ModelsResolver {
  constructor(private readonly service: ModelsService) {}

  @Query(() => [ModelView], { description: 'Every model that is not retired, the first recommendation first.' })
  models(@CurrentCaller() caller: Caller): Promise<ModelView[]> {
    return this.service.list(caller);
  }

  @Query(() => ModelView, { description: 'One model. An unknown id fails with model_not_found.' })
  model(
    @CurrentCaller() caller: Caller,
    @Args('id', { description: 'id of the model in a creation request' }) id: string,
  ): Promise<ModelView> {
    return this.service.find(caller, id);
  }
}
