/**
 * Tasks of low priority wait behind all normal ones, but get LOW_PRIORITY_SHARE percent of the starts while both wait.
 */
export const TASK_PRIORITIES = ['normal', 'low'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];
