import { MAX_MOMENTS } from '../record/moment.ts';

/** Most moments that one statement adds. */
const MOST_ADDED = 10;
const KEPT = MAX_MOMENTS - MOST_ADDED;
/** SQL: removes one moment from the middle of a long timeline. */
const LESS_ONE = ` - ${KEPT / 2}`;

/**
 * SQL: a timeline with moments added. A long timeline first loses moments from its middle, because its beginning and
 * its end tell the most.
 */
export const withMoments = (timeline: string, moments: string): string =>
  `(case when jsonb_array_length(${timeline}) > ${KEPT} then ${timeline}${LESS_ONE.repeat(MOST_ADDED)}
         else coalesce(${timeline}, '[]') end || ${moments})`;

/** SQL: a list of one moment, at the time of the transaction. */
export const moment = (type: string, attempt: string, detail?: string): string =>
  `jsonb_build_array(jsonb_build_array(
     floor(extract(epoch from now()) * 1000)::bigint, '${type}', ${attempt}, null, ${detail ? `'${detail}'` : 'null'}))`;
