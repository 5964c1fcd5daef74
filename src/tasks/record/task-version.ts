import type { ShownTask } from './task.entity.ts';

/**
 * SQL: the version of a row. PostgreSQL gives each row that it writes the number of the transaction, so of one id no two visible rows ever
 * have the same, whatever column was written.
 */
export const ROW_VERSION = 'tasks.xmin as version';

/** A task as one version of its row has it. */
export interface TaskVersion {
  task: ShownTask;
  version: string;
}
