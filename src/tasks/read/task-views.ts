import { Injectable } from '@nestjs/common';
import { unixSeconds } from '../../platform/schema/time.ts';
import { FileLinks } from './file-links.ts';
import { rememberStored } from './stored-tasks.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { UsageTerms } from '../record/usage-terms.ts';
import { filesPresent, type TaskView, toTaskView } from './task.view.ts';

/** Makes views of tasks, with file links signed by this service. */
@Injectable()
export class TaskViews {
  private readonly kept = new WeakMap<ShownTask, { json: string; linksUntil: number }>();

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
    const linksUntil = this.linksUntil(task);
    const kept = this.kept.get(task);
    if (kept?.linksUntil === linksUntil) return kept.json;
    const json = this.json(task);
    this.kept.set(task, { json, linksUntil });
    return json;
  }

  /** Unix seconds; 0 while the view has no links. */
  private linksUntil(task: ShownTask): number {
    return filesPresent(task) ? this.links.expiryOf(unixSeconds(task.files_expire_at!)) : 0;
  }
}
