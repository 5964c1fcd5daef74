import { Args, Query, Resolver } from '@nestjs/graphql';
import { ModelView } from './model.view.ts';
import { ModelsService } from './models.service.ts';

@Resolver()
export class ModelsResolver {
  constructor(private readonly service: ModelsService) {}

  @Query(() => [ModelView], { description: 'What can be made, the first recommendation first.' })
  models(): ModelView[] {
    return this.service.list();
  }

  @Query(() => ModelView, { description: 'One model; an unknown one is the error model_not_found.' })
  model(@Args('id', { description: 'what a creation request calls the model' }) id: string): ModelView {
    return this.service.find(id);
  }
}
