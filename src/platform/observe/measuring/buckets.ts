/** Upper bounds in seconds, except in the last list. They never change, because dashboards of others use them. */

/** From a statement that is prepared to one that waits for a lock. */
export const STATEMENT_BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5];

/** From a cached read to an answer whose client has given up. */
export const CALL_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** From an image of the sandbox to a video in a busy hour. */
export const WORK_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

/** For numbers of items. */
export const SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
