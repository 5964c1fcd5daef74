/** Attempts at once at one endpoint, over all processes. */
const PER_ENDPOINT = 10;

/**
 * How many more attempts an endpoint may get at this moment: up to ten at once, or a single one while it fails, so a dead
 * endpoint costs one connection however long its backlog. Exact only where the endpoint was locked by a statement before.
 * @param endpoint name of its row in the statement
 */
export const freePlaces = (endpoint: string): string => `(
    case when ${endpoint}.failing_since is null then ${PER_ENDPOINT} else 1 end
    - (select count(*) from webhook_dispatches u where u.endpoint_id = ${endpoint}.id and u.lease_until > now()))`;
