import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.ts';
import { ReadTimelines } from '../sql/read-timelines.ts';
import { isTaskId } from '../record/task-id.ts';
import { UsageTerms } from '../record/usage-terms.ts';
import { type TaskMomentView, toTimeline } from './timeline.view.ts';

@Injectable()
export class TimelinesService {
  constructor(
    private readonly rows: ReadTimelines,
    private readonly terms: UsageTerms,
  ) {}

  /** @throws ApiError task_not_found */
  async of(apiKeyId: string, taskId: string): Promise<TaskMomentView[]> {
    const row = isTaskId(taskId) ? await this.rows.find(taskId) : null;
    if (row?.api_key_id !== apiKeyId) throw new ApiError('task_not_found', { param: 'task_id' });
    return toTimeline(row, this.terms.revealProviders);
  }

  /**
   * The timeline of a task of any API key, with the providers, for operators.
   * @returns null if there is no such task
   */
  async ofAnyKey(taskId: string): Promise<TaskMomentView[] | null> {
    const row = isTaskId(taskId) ? await this.rows.find(taskId) : null;
    return row && toTimeline(row, true);
  }
}
