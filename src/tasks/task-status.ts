export const TASK_STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** A final status never changes. */
export const isFinal = (status: TaskStatus): boolean => status === 'succeeded' || status === 'failed';
