import { equalsOrdered, hiddenTime } from '../../platform/database/planner.ts';
import type { Statement } from '../../platform/database/sql.ts';
import { type ShownRow, toShownTask } from '../shown-row.ts';
import { SHOWN, SHOWN_COLUMNS, type ShownTask } from '../task.entity.ts';
import type { TaskConditions } from './task-conditions.ts';

export interface PageRequest {
  /** 1 to 100. */
  limit: number;
  /** Id of the last task of the previous page. */
  after?: string | null | undefined;
  /** `desc`, newest first, when absent. */
  order?: 'asc' | 'desc';
}

/** A final task is its id alone. */
export type Listed = ShownTask | { id: string; status: null };

/** In the order of `SHOWN`, which begins with the id. The other values of a final task are null. */
export type ListedRow = ShownRow;

const STATUS = SHOWN.indexOf('status');

export const toListed = (row: ListedRow): Listed =>
  row[STATUS] === null ? { id: row[0], status: null } : toShownTask(row);

/** The other columns of `page`, for a lateral join that finds only unfinished tasks. */
export const UNFINISHED_COLUMNS = SHOWN.flatMap((column) => (column === 'id' ? [] : [`page.${column}`])).join(', ');

/** Always uses an index that starts with (api_key_id, id), so that a page costs the same at any length of the list. */
export const pageStatement = (conditions: TaskConditions, order: 'asc' | 'desc'): Statement => ({
  name: conditions.nameOf('tasks.list', ...(order === 'asc' ? [order] : [])),
  text: `
    select page.id, unfinished.* from (
      select ${SHOWN_COLUMNS} from tasks
      where ${equalsOrdered('api_key_id', '$1::text')} and ${hiddenTime('expires_at')} > now() ${conditions.sql}
      order by api_key_id ${order}, id ${order} limit $2) page
    left join lateral (select ${UNFINISHED_COLUMNS}) unfinished on page.status in ('queued', 'running')
    order by page.api_key_id ${order}, page.id ${order}`,
});
