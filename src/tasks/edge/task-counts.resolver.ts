import { Args, Query, Resolver } from '@nestjs/graphql';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { CountTasks } from '../sql/count-tasks.ts';
import { TaskCountsView } from './task-counts.view.ts';
import { TaskFilter } from '../record/task-filter.ts';

@Resolver()
export class TaskCountsResolver {
  constructor(private readonly counts: CountTasks) {}

  @Query(() => TaskCountsView, { description: 'How many tasks of your API key have each status.' })
  @RequireScope('tasks:read')
  taskCounts(
    @CurrentCaller() caller: Caller,
    @Args('filter', { type: () => TaskFilter, nullable: true, description: 'selects tasks; all when left out' })
    filter?: TaskFilter,
  ): Promise<TaskCountsView> {
    return this.counts.count(caller.apiKeyId, filter ?? {});
  }
}
