/** A `late` process may just have a slow database. A `lost` one is gone or cut off. */
export const PROCESS_STATES = ['live', 'late', 'draining', 'drained', 'lost'] as const;
export type ProcessState = (typeof PROCESS_STATES)[number];

/** A topic of the bus. The body is the id of the process whose row an operator has changed, or ALL_PROCESSES. */
export const PROCESS_TOPIC = 'process';
export const ALL_PROCESSES = '*';

/**
 * Seconds between two renewals of the row of a process. Each renewal reads what operators have asked of the process, so
 * the process complies within 5 s.
 */
export const HEARTBEAT_S = 4;
/** Seconds without a renewal after which a process is late: three renewals are missing. */
export const LATE_AFTER_S = 12;
export const LOST_AFTER_S = 30;
/** Seconds after which the row of a lost process is deleted. */
export const FORGOTTEN_AFTER_S = 3_600;
