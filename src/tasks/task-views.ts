import { Injectable } from '@nestjs/common';
import { FileLinks } from './files/file-links.ts';
import { rememberStored } from './stored-tasks.ts';
import type { ShownTask } from './task.entity.ts';
import { UsageTerms } from './usage/usage-terms.ts';
import { type TaskView, toTaskView } from './task.view.ts';

/** Makes views of tasks, with file links signed by this service. */
@Injectable()
export class TaskViews {
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
}
