import { Args, Mutation, Resolver } from '@nestjs/graphql';
import { CurrentCaller, RequireScope } from '../../auth/access/access.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { TaskFilter } from '../record/task-filter.ts';
import { selectionOf } from '../acts/cancel-selection.ts';
import { MAX_IDS } from '../acts/cancel-tasks.input.ts';
import { CancelTasks } from '../acts/cancel-tasks.ts';
import { TaskCancelView } from '../acts/task-cancel.view.ts';

const NAMES = { ids: 'taskIds', filter: 'filter' };

@Resolver()
export class CancelTasksResolver {
  constructor(private readonly cancels: CancelTasks) {}

  @Mutation(() => [TaskCancelView], {
    description: `Cancels the tasks with these ids, or the unfinished ones that match the filter, the 1,000 oldest at most. The result has the order of the ids, or the oldest task first.`,
  })
  @RequireScope('tasks:cancel')
  async cancelTasks(
    @CurrentCaller() caller: Caller,
    @Args('taskIds', { type: () => [String], nullable: true, description: `1 to ${MAX_IDS} identifiers of tasks` })
    ids?: string[] | null,
    @Args('filter', { type: () => TaskFilter, nullable: true, description: 'selects tasks by at least one condition' })
    filter?: TaskFilter,
  ): Promise<TaskCancelView[]> {
    if (ids && (ids.length < 1 || ids.length > MAX_IDS)) {
      const code = ids.length < 1 ? 'invalid_value' : 'too_many_items';
      throw new ApiError(code, { param: NAMES.ids, message: `taskIds must have 1 to ${MAX_IDS} entries.` });
    }
    const selection = selectionOf({ ...(ids && { ids }), ...(filter && { filter }) }, NAMES);
    return this.cancels.cancel(caller.apiKeyId, selection);
  }
}
