/**
 * Tasks of low priority wait behind all normal ones. While tasks of both priorities wait, those of low priority get
 * LOW_PRIORITY_SHARE percent of the starts.
 */
export const TASK_PRIORITIES = ['normal', 'low'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];
