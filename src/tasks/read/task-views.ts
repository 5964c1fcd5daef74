import { Injectable } from '@nestjs/common';
import { unixSeconds } from '../../platform/schema/time.ts';
import { FileLinks } from './file-links.ts';
import type { ShownTask, StoredOutput } from '../record/task.entity.ts';
import { UsageTerms } from '../record/usage-terms.ts';
import { filesPresent, lapsedOutputs, type TaskOutputView, type TaskView, toTaskView } from './task.view.ts';
import { ApiError } from '../../errors/api-error.ts';

/** Makes views of tasks, with file links signed by this service. */
@Injectable()
export class TaskViews {
  private readonly kept = new WeakMap<ShownTask, { json: string; links: string }>();

  constructor(
    private readonly links: FileLinks,
    private readonly terms: UsageTerms,
  ) {}

  of(task: ShownTask): TaskView {
    return toTaskView(task, this.links, this.terms);
  }

  /** The view for GraphQL. It carries the stored task, from which the fields are read that only GraphQL has. */
  forGraphql(task: ShownTask): TaskView {
    return rememberStored(this.of(task), task);
  }

  json(task: ShownTask): string {
    return JSON.stringify(this.of(task));
  }

  /** The JSON of a task that stays in memory. It is made once, and again when the links of the task change. */
  keptJson(task: ShownTask): string {
    const links = this.linksOf(task);
    const kept = this.kept.get(task);
    if (kept?.links === links) return kept.json;
    const json = this.json(task);
    this.kept.set(task, { json, links });
    return json;
  }

  /**
   * A text that changes whenever the links of the task change: it has their expiry, and how many outputs have passed an
   * expiry of their own.
   */
  private linksOf(task: ShownTask): string {
    if (!filesPresent(task)) return 'none';
    return `${this.links.expiryOf(unixSeconds(task.files_expire_at!))} ${lapsedOutputs(task)}`;
  }
}

interface OutputOfTask {
  task: ShownTask;
  output: StoredOutput;
}

/**
 * The key under which a view carries its stored task or output, for the fields that only GraphQL has. It is a symbol,
 * because views are sent as they are, and JSON leaves symbols out. A WeakMap would cost 1 us more for each view.
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

/** @throws ApiError task_not_found if the view is a repeated first answer whose task was deleted */
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
