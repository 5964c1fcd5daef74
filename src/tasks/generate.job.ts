import { defineJob } from '../platform/jobs/jobs.ts';

/**
 * "Look at this task": a wake-up, not a command. The record decides whether there is anything to do, so a job that is
 * lost, doubled or late does no harm. The acts that queue it write the row in their own statement.
 */
export const generateJob = defineJob<{ taskId: string }>('generate', {
  queue: 'generation',
  jobKey: ({ taskId }) => `generate:${taskId}`, // the acts write the same key
});
