import { Injectable } from '@nestjs/common';
import type { ClaimedTask } from '../../tasks/sql/claim-tasks.ts';
import { RecordProgress } from '../../tasks/sql/record-progress.ts';
import { RecordSubmit } from '../../tasks/sql/record-submit.ts';
import type { Approximation } from '../../tasks/task.entity.ts';
import { TaskFeed } from '../../tasks/live/task-feed.ts';
import { ProviderRun } from './provider-run.ts';
import type { ReadyBinding } from '../../providers/registry.ts';
import type { Lease } from './running-tasks.ts';

/** Makes the runs that providers speak to. */
@Injectable()
export class ProviderRuns {
  constructor(
    private readonly progress: RecordProgress,
    private readonly submit: RecordSubmit,
    private readonly feed: TaskFeed,
  ) {}

  of(task: ClaimedTask, held: Lease, binding: ReadyBinding, approximations: Approximation[]): ProviderRun {
    const { name, credential, concurrency, upstream } = binding;
    const { baseUrl: url, model } = upstream;
    const submission = { provider: name, url, model, credential, approximations, concurrency };
    return new ProviderRun(task, held, submission, { progress: this.progress, submit: this.submit, feed: this.feed });
  }
}
