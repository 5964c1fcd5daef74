import type { MediaKind } from '../../models/media-kind.ts';

/** Flat, since it goes to PostgreSQL as it is. */
export interface NewTask {
  id: string;
  api_key_id: string;
  kind: MediaKind;
  model: string;
  input: object;
  metadata: Record<string, string>;
  /** Unix milliseconds, as is `expires_at`: PostgreSQL reads a number in a fraction of the time that a date takes it. */
  created_at: number;
  expires_at: number;
  /** Seconds from now, by database time. */
  deadline_s: number;
  /** The key's limits; 0 = none. */
  max_queued: number;
  max_running: number;
}

/** A parameter that reads a `NewTask`; the columns of what it has besides may follow. */
export const COLUMNS = `
        place int, id text, api_key_id text, kind text, model text, input json, metadata jsonb, created_at float8,
        expires_at float8, deadline_s float8, max_queued int, max_running int`;

/** A part of a creation: the tasks of `wanted`, whose API keys' `load` is known. The row is its own place in the queue. */
export const INSERT = `
      insert into tasks (id, api_key_id, kind, model, status, input, metadata, created_at, expires_at, deadline_at, priority)
      select id, api_key_id, kind, model, 'queued', input, metadata, to_timestamp(created_at / 1000),
             to_timestamp(expires_at / 1000), now() + make_interval(secs => deadline_s), least(ahead + place, 32000)
      from wanted join load using (api_key_id)`;

/**
 * How creations gather. Taking all that wait, 64 clients fell into turns of 1 and 63, in which both sides waited for each other:
 * 2 to 11 % fewer.
 */
export const BATCHING = { maxItems: 200, leavesHalf: true };

/** As a parameter; `place` counts the tasks of an API key. */
export function toRows(tasks: NewTask[]): string {
  const places = new Map<string, number>();
  const rows = tasks.map((task) => {
    const place = (places.get(task.api_key_id) ?? 0) + 1;
    places.set(task.api_key_id, place);
    return { ...task, place };
  });
  return JSON.stringify(rows);
}
