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

/** SQL fragment: the next places of the API key of `l`, a row of `key_load`, while the line is at `n`, a row of `line`. */
export const STARTS = 'greatest(l.place, n.place) as start, greatest(l.low_place, n.low_place) as low_start';
