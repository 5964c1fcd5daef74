/**
 * SQL fragment, after `with recursive`: the endpoints that have something waiting, and a last row with null. The
 * recursion jumps from one endpoint to the next in the index, so its cost does not depend on how much waits for each.
 */
export const WAITING_ENDPOINTS = `waiting as (
      (select endpoint_id from webhook_dispatches where due_at is not null order by endpoint_id limit 1)
      union all
      select (select d.endpoint_id from webhook_dispatches d
              where d.due_at is not null and d.endpoint_id > w.endpoint_id order by d.endpoint_id limit 1)
      from waiting w where w.endpoint_id is not null
    )`;
