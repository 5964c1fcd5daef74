import { PROCESS_ID } from '../../platform/config/process-id.ts';

/** The `worker_id` of the tasks that this process has claimed. */
export const WORKER_ID = PROCESS_ID;
