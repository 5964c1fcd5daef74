import { USUAL_WEIGHT } from '../../auth/limits/api-key-limits.ts';

/**
 * The line of waiting tasks: start-time fair queueing (Goyal, Vin and Cheng, 1996). A task's place is where the line is now, or where
 * the last task of its API key ends, whichever is later. It ends its cost further on. So keys share the time of workers by their weight,
 * the places of a key only rise, and what a key used while nobody else waited is not held against it. Each priority has a line of its own.
 */

/** Milliseconds that a run takes of which nothing is known. */
export const UNKNOWN_RUN_MS = 1_000;

/** How far a task moves the next one of its key back. */
export const costOf = (runMs: number, weight: number): number =>
  Math.max(1, Math.round((runMs * USUAL_WEIGHT) / weight));

/**
 * A key with nothing queued is at most so far behind the line: what was cancelled while it waited does not count for hours. After 3,000
 * cancelled tasks of a second, 600 of another key start before the next one, and not 3,000.
 */
const MOST_BEHIND_MS = 600_000;

/** SQL: where the next task of a key stands. `l` is the row of the key in `key_load`, if there is one, `n` that of `line`. */
export const startOf = (lane: 'place' | 'low_place'): string =>
  `greatest(n.${lane}, case when l.queued > 0 then l.${lane} else least(coalesce(l.${lane}, 0), n.${lane} + ${MOST_BEHIND_MS}) end)`;

/** SQL fragment: the same for both priorities. */
export const STARTS = `${startOf('place')} as start, ${startOf('low_place')} as low_start`;
