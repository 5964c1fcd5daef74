import { PROCESS_ID } from '../../platform/config/process-id.ts';

/** Identifies this process in the record of the tasks it has claimed. */
export const WORKER_ID = PROCESS_ID;
