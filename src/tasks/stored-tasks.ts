import type { ShownTask } from './task.entity.ts';
import type { TaskView } from './task.view.ts';

/**
 * The stored task of each view, for the GraphQL fields that REST does not show. Views are plain objects that are sent as they
 * are, so what is not to be sent cannot be in them.
 */
const stored = new WeakMap<TaskView, ShownTask>();

export function rememberStored(view: TaskView, task: ShownTask): TaskView {
  stored.set(view, task);
  return view;
}

export const storedTaskOf = (view: TaskView): ShownTask => stored.get(view)!;
