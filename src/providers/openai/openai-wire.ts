import { z } from 'zod';
import { field, number, text } from '../wire/reply-schema.ts';

/** A video job, as `GET /videos/{id}` returns it and the create call returns its id. */
export const videoJob = z.object({
  id: text(),
  /** queued in_progress completed failed; other servers have cancelled and expired too */
  status: text(),
  /** Percent, 0 to 100. */
  progress: number(),
  error: field(z.object({ code: text(), message: text() })),
});
