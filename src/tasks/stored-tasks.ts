import { ApiError } from '../errors/api-error.ts';
import type { ShownTask, StoredOutput } from './task.entity.ts';
import type { TaskOutputView, TaskView } from './task.view.ts';

interface OutputOfTask {
  task: ShownTask;
  output: StoredOutput;
}

/**
 * What is stored behind each view, for the GraphQL fields that REST does not show. Views are plain objects that are sent as
 * they are, so what is not to be sent cannot be in them.
 */
const tasks = new WeakMap<TaskView, ShownTask>();
const outputs = new WeakMap<TaskOutputView, OutputOfTask>();

export function rememberStored(view: TaskView, task: ShownTask): TaskView {
  tasks.set(view, task);
  for (const [at, output] of view.result?.outputs.entries() ?? [])
    outputs.set(output, { task, output: task.result![at]! });
  return view;
}

/** @throws ApiError task_not_found: the view is the first answer to a repeated request, and its task was deleted */
export function storedTaskOf(view: TaskView): ShownTask {
  const task = tasks.get(view);
  if (!task) throw new ApiError('task_not_found');
  return task;
}

/** @throws ApiError task_not_found as `storedTaskOf` */
export function storedOutputOf(view: TaskOutputView): OutputOfTask {
  const output = outputs.get(view);
  if (!output) throw new ApiError('task_not_found');
  return output;
}
