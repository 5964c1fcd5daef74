/** `cancelling`: the unfinished tasks of the batch are being ended. The last two statuses are final. */
export const BATCH_STATUSES = ['in_progress', 'cancelling', 'completed', 'cancelled'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** The status of an item in the results. Every final item that did not succeed is `failed`. */
export const RESULT_STATUSES = ['succeeded', 'failed'] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

export const isEnded = (status: BatchStatus): boolean => status === 'completed' || status === 'cancelled';
