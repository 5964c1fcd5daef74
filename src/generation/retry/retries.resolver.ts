import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { CountsAs, CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { TaskView } from '../../tasks/read/task.view.ts';
import { GenerationsService } from '../accept/generations.service.ts';
import { RetriesService } from './retries.service.ts';
import { RetryTaskInput } from './retry-task.input.ts';

@Resolver()
export class RetriesResolver {
  constructor(
    private readonly retries: RetriesService,
    private readonly generations: GenerationsService,
  ) {}

  @Mutation(() => TaskView, {
    description:
      'Makes a final task again, or a variation of it. A repeated idempotency key returns the first answer again.',
  })
  @RequireScope('generations:write')
  @CountsAs('create')
  async retryTask(
    @CurrentCaller() caller: Caller,
    @Args('taskId', { type: () => String, description: 'identifier of the final task' }) taskId: string,
    @Args('idempotencyKey', {
      type: () => String,
      nullable: true,
      description: '1 to 255 printable ASCII characters, shared with the Idempotency-Key header of REST',
    })
    idempotencyKey: string | null | undefined,
    // The type lacks `| null`, because a union has no class at run time, and the input would not be validated.
    @Args('input', { type: () => RetryTaskInput, nullable: true, description: 'what to change' })
    input?: RetryTaskInput,
  ): Promise<TaskView> {
    const accepted = await this.retries.retry(caller, taskId, input ?? {}, {
      idempotencyKey: idempotencyKey ?? undefined,
    });
    return this.generations.viewOf(caller, accepted);
  }
}
