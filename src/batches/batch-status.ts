/** `cancelling`: its unfinished tasks are being ended. The last two are final. */
export const BATCH_STATUSES = ['in_progress', 'cancelling', 'completed', 'cancelled'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

export const isEnded = (status: BatchStatus): boolean => status === 'completed' || status === 'cancelled';
