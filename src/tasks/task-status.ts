export const TASK_STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Nothing leaves a final state. */
export const isFinal = (status: TaskStatus): boolean => status === 'succeeded' || status === 'failed';
