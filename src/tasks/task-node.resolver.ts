import { ID, Parent, ResolveField, Resolver } from '@nestjs/graphql';
import { TaskView } from './task.view.ts';

/** Clients with a normalising cache find an object again by its type and its `id`. */
@Resolver(() => TaskView)
export class TaskNodeResolver {
  @ResolveField(() => ID, { description: 'the same as taskId, for the caches of GraphQL clients' })
  id(@Parent() { task_id }: TaskView): string {
    return task_id;
  }
}
