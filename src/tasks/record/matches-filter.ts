import type { ShownTask } from './task.entity.ts';
import { hasWords } from './search-words.ts';
import type { TaskFilter } from './task-filter.ts';

/**
 * Whether a list with this filter would contain the task. The rule is that of sql/task-conditions.ts, for tasks in
 * memory.
 */
export function matchesFilter(task: ShownTask, filter: TaskFilter): boolean {
  const { status, statuses, kind, model, batch_id, source, parent_task_id, metadata } = filter;
  const { created_after, created_before, error_code, cancelled, search, kept, collection } = filter;
  const createdS = task.created_at.getTime() / 1000;
  return (
    (isAbsent(status) || task.status === status) &&
    (isAbsent(statuses) || statuses.includes(task.status)) &&
    (isAbsent(error_code) || task.error?.code === error_code) &&
    (isAbsent(cancelled) || (task.error?.code === 'task_cancelled') === cancelled) &&
    (isAbsent(kind) || task.kind === kind) &&
    (isAbsent(model) || task.model === model) &&
    (isAbsent(batch_id) || task.batch_id === batch_id) &&
    (isAbsent(source) || task.source === source) &&
    (isAbsent(parent_task_id) || task.parent_task_id === parent_task_id) &&
    (isAbsent(created_after) || createdS > created_after) &&
    (isAbsent(created_before) || createdS < created_before) &&
    (isAbsent(kept) || (task.kept_at !== null) === kept) &&
    (isAbsent(collection) || isIn(task, collection)) &&
    (isAbsent(search) || hasWords(task.input.prompt, search)) &&
    Object.entries(metadata ?? {}).every(
      ([key, value]) => Object.hasOwn(task.metadata, key) && task.metadata[key] === value,
    )
  );
}

const isIn = (task: ShownTask, collection: string): boolean =>
  task.kept_at !== null &&
  (task.collection === collection || (task.result ?? []).some((output) => output.collection === collection));

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;
