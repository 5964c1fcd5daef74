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

  /** The view whose GraphQL fields beyond REST find the stored task. */
  forGraphql(task: ShownTask): TaskView {
    return rememberStored(this.of(task), task);
  }

  json(task: ShownTask): string {
    return JSON.stringify(this.of(task));
  }

  /** The same for a task that stays in memory: made once, and again when its links change. */
  keptJson(task: ShownTask): string {
    const links = this.linksOf(task);
    const kept = this.kept.get(task);
    if (kept?.links === links) return kept.json;
    const json = this.json(task);
    this.kept.set(task, { json, links });
    return json;
  }

  /** Their end, and how many have gone before it. */
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
 * What is stored behind each view, for the GraphQL fields that REST does not show. The keys are symbols, which JSON
 * leaves out: views are sent as they are. A WeakMap costs 1 us more for each view.
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
