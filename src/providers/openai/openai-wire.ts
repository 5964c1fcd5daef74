import { z } from 'zod';
import { field, number, text } from '../wire/reply-schema.ts';

/** A video job, as `GET /videos/{id}` returns it and the create call returns its id. */
export const videoJob = z.object({
  id: text(),
  /** `video`, in a job's own record. */
  object: text(),
  /** queued in_progress completed failed; gateways have further words */
  status: text(),
  /** Where some gateways have the status. */
  state: text(),
  /** Percent, 0 to 100. */
  progress: number(),
  error: field(z.object({ code: field(z.union([z.string(), z.number().transform(String)])), message: text() })),
});

/** In lower case, with `_` between words: gateways write SUCCESS, Succeeded or IN-PROGRESS. */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const DONE = words('completed complete succeeded succeed success successful done finished ready');
const FAILED = words(`
  failed fail failure error errored rejected blocked moderated content_filtered
  cancelled canceled aborted expired timeout timed_out timedout`);
const UNFINISHED = words(`
  queued queueing in_queue pending waiting scheduled created accepted submitted not_start not_started starting started
  preparing in_progress processing running generating rendering uploading finalizing`);

/** @returns null for a word that means neither */
export function stateNamed(status: string): 'done' | 'failed' | 'unfinished' | null {
  const name = status
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  if (DONE.has(name)) return 'done';
  if (FAILED.has(name)) return 'failed';
  return UNFINISHED.has(name) ? 'unfinished' : null;
}
