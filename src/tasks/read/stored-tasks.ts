import { ApiError } from '../../errors/api-error.ts';
import type { ShownTask, StoredOutput } from '../record/task.entity.ts';
import type { TaskOutputView, TaskView } from './task.view.ts';

interface OutputOfTask {
  task: ShownTask;
  output: StoredOutput;
}

/**
 * What is stored behind each view, for the GraphQL fields that REST does not show. The keys are symbols, which JSON leaves
 * out: views are sent as they are. A WeakMap costs 1 us more for each view.
 */
const STORED = Symbol('what is stored behind the view');
type TaskBehind = TaskView & { [STORED]?: ShownTask };
type OutputBehind = TaskOutputView & { [STORED]?: OutputOfTask };

export function rememberStored(view: TaskView, task: ShownTask): TaskView {
  (view as TaskBehind)[STORED] = task;
  view.result?.outputs.forEach((output: OutputBehind, at) => {
    output[STORED] = { task, output: task.result![at]! };
  });
  return view;
}

/** @throws ApiError task_not_found: the view is the first answer to a repeated request, and its task was deleted */
export function storedTaskOf(view: TaskView): ShownTask {
  const task = (view as TaskBehind)[STORED];
  if (!task) throw new ApiError('task_not_found');
  return task;
}

/** @throws ApiError task_not_found as `storedTaskOf` */
export function storedOutputOf(view: TaskOutputView): OutputOfTask {
  const output = (view as OutputBehind)[STORED];
  if (!output) throw new ApiError('task_not_found');
  return output;
}
