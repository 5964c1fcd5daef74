import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { CreateGenerationInput } from './create-generation.input.ts';
import { GenerationsService } from './generations.service.ts';
import { requestOfInput } from './graphql-request.ts';

@Resolver()
export class GenerationsResolver {
  constructor(private readonly generations: GenerationsService) {}

  /**
   * @param input has only the given fields, under their names in REST, so that an equal request has the same hash in
   *   REST and GraphQL
   */
  @Mutation(() => TaskView, {
    description: 'Creates a task. A repeated idempotency key returns the first answer again.',
  })
  @RequireScope('generations:write')
  @CountsAs('create')
  async createGeneration(
    @CurrentCaller() caller: Caller,
    @Args('input', { type: () => CreateGenerationInput, description: 'what to make' }) input: Record<string, unknown>,
    @Args('idempotencyKey', {
      type: () => String,
      nullable: true,
      description: '1 to 255 printable ASCII characters, shared with the Idempotency-Key header of REST',
    })
    idempotencyKey: string | null | undefined,
  ): Promise<TaskView> {
    const accepted = await this.generations.accept(caller, requestOfInput(input), {
      idempotencyKey: idempotencyKey ?? undefined,
    });
    return this.generations.viewOf(caller, accepted);
  }
}
