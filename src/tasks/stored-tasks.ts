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
  view.result?.outputs.forEach((output, at) => outputs.set(output, { task, output: task.result![at]! }));
  return view;
}

export const storedTaskOf = (view: TaskView): ShownTask => tasks.get(view)!;
export const storedOutputOf = (view: TaskOutputView): OutputOfTask => outputs.get(view)!;
