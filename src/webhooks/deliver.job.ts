import { defineJob } from '../platform/jobs/jobs.ts';

/** "Something may be due for this endpoint." Has no key: looking twice costs little, waiting for a lock would cost more. */
export const deliverJob = defineJob<{ endpointId: string }>('deliver');
