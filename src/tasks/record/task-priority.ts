/** A task of low priority waits behind all normal ones, but gets LOW_PRIORITY_SHARE percent of the starts. */
export const TASK_PRIORITIES = ['normal', 'low'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];
