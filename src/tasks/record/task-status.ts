import { defineChoice } from '../../platform/schema/choice.ts';

export const TASK_STATUSES = ['queued', 'running', 'succeeded', 'failed'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];
export const TaskStatusChoice = defineChoice('TaskStatus', TASK_STATUSES, 'Status of a task; the last two are final.');

/** A final status never changes. */
export const isFinal = (status: TaskStatus): boolean => status === 'succeeded' || status === 'failed';

/** Retry-After of an unfinished task: seconds between polls. */
export const POLL_AFTER_S = { image: 2, video: 5 } as const;
