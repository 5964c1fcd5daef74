import { z } from 'zod';
import { field, number, text } from '../wire/reply-schema.ts';

/** A video job. `GET /videos/{id}` returns all of it, the create call only its id. */
export const videoJob = z.object({
  id: text(),
  /** `video` in the record of a job. */
  object: text(),
  /** `queued`, `in_progress`, `completed` or `failed`; gateways have further names. */
  status: text(),
  /** Contains the status at some gateways. */
  state: text(),
  /** Percent, 0 to 100. */
  progress: number(),
  error: field(z.object({ code: field(z.union([z.string(), z.number().transform(String)])), message: text() })),
});

/**
 * A set of status names, in lower case and with `_` between words. Gateways write SUCCESS, Succeeded or IN-PROGRESS.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));
const DONE = words('completed complete succeeded succeed success successful done finished ready');
const FAILED = words(`
  failed fail failure error errored rejected blocked moderated content_filtered
  cancelled canceled aborted expired timeout timed_out timedout`);
const UNFINISHED = words(`
  queued queueing in_queue pending waiting scheduled created accepted submitted not_start not_started starting started
  preparing in_progress processing running generating rendering uploading finalizing`);

/** @returns null for an unknown name */
export function stateNamed(status: string): 'done' | 'failed' | 'unfinished' | null {
  const name = status
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  if (DONE.has(name)) return 'done';
  if (FAILED.has(name)) return 'failed';
  return UNFINISHED.has(name) ? 'unfinished' : null;
}
