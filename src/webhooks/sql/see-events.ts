import type { Statement } from '../../platform/database/sql.ts';

/** The maximum number of events in one piece. */
const EVENTS = 2_000;

/**
 * Reads the next piece of the table, after the id `$2`, in the order of the ids. There is no index by key, because it
 * would make the end of every task slower. `last` is the last id of the piece, null at the end of the table. `ids` are
 * the events of the key `$1` in the piece, null if there are none.
 */
export const SEE_EVENTS: Statement = {
  name: 'webhooks.see_events',
  text: `
    with seen as (select id, api_key_id from webhook_events where id > $2 order by id limit ${EVENTS})
    select max(id) as last, array_agg(id order by id) filter (where api_key_id = $1) as ids from seen`,
};
