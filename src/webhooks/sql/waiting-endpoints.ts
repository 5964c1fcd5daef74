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

/**
 * SQL expression: the time up to which the dispatches of an endpoint are due. A disabled endpoint gets tests only, which
 * are due since 1970. So a claim does not read all that waits at an endpoint which was disabled just now.
 * @param endpoint alias of the endpoint's row in the statement
 */
export const dueUntil = (endpoint: string): string =>
  `case ${endpoint}.status when 'enabled' then now() else to_timestamp(0) end`;
