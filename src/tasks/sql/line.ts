import { USUAL_WEIGHT } from '../../auth/limits/api-key-limits.ts';

/**
 * The line of waiting tasks: what `tasks.priority` holds, in ascending order of start. A place is how many unfinished
 * tasks of the same API key and priority come before a new one, times ten over the key's weight. So keys take turns,
 * and one of twice the weight has twice as many tasks in each turn.
 *
 *     -11 to -1         normal tasks that have waited for long
 *       0 to 16000      places of normal tasks
 *   16389 to 16399      tasks of low priority that have waited for long
 *   16400 to 32400      places of tasks of low priority
 *
 * Processes of the last release give normal tasks places up to 32000.
 */
const LONGEST = 16_000;
const LOW_OFFSET = 16_400;

/**
 * Low tasks are those from here on. Compared with `priority` and not `low`, because the index of waiting tasks begins
 * with it.
 */
export const LOW_FROM = 16_384;

/**
 * Rounds of the line that the tasks which have waited for long make up: as many as a key of the usual weight has of
 * them.
 */
const AGED_ROUNDS = 10;

const offset = (low: string): string => `(case when ${low} then ${LOW_OFFSET} else 0 end)`;

/** SQL: the place of a task which is the `nth` unfinished one of its key and priority, from 1. */
export const placeOf = (low: string, nth: string, weight: string): string =>
  `${offset(low)} + least((${nth}) * ${USUAL_WEIGHT} / ${weight}, ${LONGEST})`;

/**
 * SQL: the place, before all others of its priority, of the `nth` oldest task of its key, from 1 to the key's weight.
 */
export const agedPlaceOf = (low: string, nth: string, weight: string): string =>
  `${offset(low)} - ${AGED_ROUNDS + 1} + least(${nth} * ${USUAL_WEIGHT} / ${weight}, ${AGED_ROUNDS})`;
