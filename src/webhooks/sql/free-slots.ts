/** The maximum number of attempts in flight at one endpoint, over all processes. */
export const MAX_PER_ENDPOINT = 10;

/**
 * SQL expression: how many more attempts may start at an endpoint now. At most MAX_PER_ENDPOINT are in flight, or one
 * while the endpoint fails. So a dead endpoint takes one connection, however many events wait for it. The number is
 * exact only if an earlier statement of the transaction has locked the endpoint.
 * @param endpoint alias of the endpoint's row in the statement
 */
export const freeSlots = (endpoint: string): string => `(
    case when ${endpoint}.failing_since is null then ${MAX_PER_ENDPOINT} else 1 end
    - (select count(*) from webhook_dispatches u where u.endpoint_id = ${endpoint}.id and u.lease_until > now()))`;
