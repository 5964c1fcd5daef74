import { Args, Query, Resolver } from '@nestjs/graphql';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { CreateGenerationInput } from '../accept/create-generation.input.ts';
import { requestOfInput } from '../accept/graphql-request.ts';
import { EstimateView } from './estimate.view.ts';
import { GenerationEstimatesService } from './generation-estimates.service.ts';

@Resolver()
export class GenerationEstimatesResolver {
  constructor(private readonly estimates: GenerationEstimatesService) {}

  @Query(() => EstimateView, { description: 'Estimates what a generation would cost, without creating it.' })
  @RequireScope('tasks:read')
  async estimateGeneration(
    @CurrentCaller() caller: Caller,
    @Args('input', { type: () => CreateGenerationInput, description: 'what to make' }) input: Record<string, unknown>,
  ): Promise<EstimateView> {
    return this.estimates.estimate(caller, requestOfInput(input));
  }
}
