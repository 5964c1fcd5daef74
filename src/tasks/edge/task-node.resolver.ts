import { Args, ID, Int, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { storedTaskOf } from '../read/task-views.ts';
import { TaskView } from '../read/task.view.ts';

/** The most characters of `promptStart`. Each has at most two UTF-16 units. */
const MAX_PROMPT_START = 1_000;

/** Fields of a task that only GraphQL has. Clients with a normalising cache find an object by its type and its `id`. */
@Resolver(() => TaskView)
export class TaskNodeResolver {
  @ResolveField(() => ID, { description: 'the same as taskId, for the caches of GraphQL clients' })
  id(@Parent() { task_id }: TaskView): string {
    return task_id;
  }

  @ResolveField(() => Int, { description: 'rises by one with every visible change, to order updates of the same task' })
  sequence(@Parent() task: TaskView): number {
    return storedTaskOf(task).sequence;
  }

  @ResolveField(() => String, { description: 'the beginning of the prompt, for lists' })
  promptStart(
    @Parent() { input }: TaskView,
    @Args('characters', { type: () => Int, nullable: true, defaultValue: 200, description: 'at most, 1 to 1,000' })
    characters: number | null,
  ): string {
    const most = characters ?? 200;
    if (most < 1 || most > MAX_PROMPT_START) {
      const message = `characters must be from 1 to ${MAX_PROMPT_START}.`;
      throw new ApiError('value_out_of_range', { param: 'characters', message });
    }
    return Array.from(String(input.prompt).slice(0, most * 2))
      .slice(0, most)
      .join(''); // by characters, so that no surrogate pair is cut
  }

  @ResolveField(() => String, {
    nullable: true,
    description: 'x-request-id of the request that created the task; null in old tasks',
  })
  requestId(@Parent() task: TaskView): string | null {
    return storedTaskOf(task).request_id;
  }
}
