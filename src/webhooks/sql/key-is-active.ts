/**
 * SQL expression: true if the API key of an endpoint is not revoked, false if it is revoked, null if the key does not
 * exist. The endpoints of a revoked key receive nothing. A join in place of the subquery would let the planner start
 * from the keys and read all their endpoints.
 * @param endpoint alias of the endpoint's row in the statement
 */
export const keyIsActive = (endpoint: string): string =>
  `(select k.revoked_at is null from api_keys k where k.id = ${endpoint}.api_key_id)`;
