import type { TaskFilter } from './list-tasks.ts';
import type { ShownTask } from '../task.entity.ts';

/** Whether a task belongs to what a list with this filter would show: the same rule as list-tasks.ts asks in SQL. */
export function matchesFilter(task: ShownTask, filter: TaskFilter): boolean {
  const { status, kind, model, createdAfter, createdBefore, metadata } = filter;
  const createdS = task.created_at.getTime() / 1000;
  return (
    (status === undefined || task.status === status) &&
    (kind === undefined || task.kind === kind) &&
    (model === undefined || task.model === model) &&
    (createdAfter === undefined || createdS > createdAfter) &&
    (createdBefore === undefined || createdS < createdBefore) &&
    Object.entries(metadata ?? {}).every(
      ([key, value]) => Object.hasOwn(task.metadata, key) && task.metadata[key] === value,
    )
  );
}
