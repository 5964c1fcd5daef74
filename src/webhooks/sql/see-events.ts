import type { Statement } from '../../platform/database/sql.ts';

/** Events of one piece. */
const EVENTS = 2_000;

/**
 * A piece of the table after the id `$2`, in order: an index of the keys would cost the end of every task. `last` is
 * the last id of the piece, null at the end; `ids` are those of the key `$1`, or null.
 */
export const SEE_EVENTS: Statement = {
  name: 'webhooks.see_events',
  text: `
    with seen as (select id, api_key_id from webhook_events where id > $2 order by id limit ${EVENTS})
    select max(id) as last, array_agg(id order by id) filter (where api_key_id = $1) as ids from seen`,
};
