import type { ShownTask } from '../record/task.entity.ts';

export interface PageRequest {
  /** 1 to 100. */
  limit: number;
  /** Id of the last task of the previous page. */
  after?: string | null | undefined;
  /** `desc`, newest first, when absent. */
  order?: 'asc' | 'desc';
}

export interface TaskPage {
  /** Newest first, unless the request says otherwise. */
  tasks: ShownTask[];
  hasMore: boolean;
}

/** A row of a page. What clients see of a task that is not running changes only with its `sequence`. */
export type Listed = Pick<ShownTask, 'id' | 'sequence'>;
