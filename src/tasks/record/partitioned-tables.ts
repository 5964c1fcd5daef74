import type { Partitioned } from '../../platform/database/partitions/partitioned.ts';

/** The tables of this room that are in partitions. */
export const TASK_TABLES: Partitioned = { prefix: 'task', tables: [{ name: 'tasks', key: 'id' }] };
