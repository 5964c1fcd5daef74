import type { Sql, Statement } from '../../../platform/database/sql.ts';
import type { RateBucket } from '../../access/caller.ts';
import { WINDOW_S } from '../rate-window.ts';

export interface RateLeaseRequest {
  apiKeyId: string;
  bucket: RateBucket;
  /** At least 1. */
  points: number;
}

/** The state of a window after a lease, over all processes. */
export interface RateLease {
  /** Includes the points just requested. May exceed the limit, which is not part of this statement. */
  taken: number;
  /** Milliseconds until the window ends, by the database's clock. */
  msLeft: number;
}

/**
 * Leases points for many keys at once. The first lease of a key opens its window.
 * Raw SQL because it is a frequent upsert with a condition on the stored row.
 * Only the database's clock counts: a process whose own clock is ahead would open the next window too early. Every
 * condition uses `now()`, which is one instant for the whole statement. With two readings of the clock, a window could
 * end between them, and its count would restart in the old window.
 * The rows are sorted, so that two processes lock them in the same order and cannot deadlock.
 */
const LEASE_RATE_POINTS: Statement = {
  name: 'auth.lease_rate_points',
  text: `
  insert into rate_windows as known (api_key_id, bucket, ends_at, taken)
  select api_key_id, bucket, now() + interval '${WINDOW_S} seconds', points
    from unnest($1::text[], $2::text[], $3::bigint[]) as requested (api_key_id, bucket, points)
   order by api_key_id, bucket
      on conflict (api_key_id, bucket) do update
     set ends_at = case when known.ends_at > now() then known.ends_at else excluded.ends_at end,
         taken = case when known.ends_at > now() then known.taken else 0 end + excluded.taken
  returning api_key_id as "apiKeyId", bucket, taken::float8,
            (extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 as "msLeft"`,
};

/** Returns the leases in the order of the requests. Each pair of key and bucket may occur only once. */
export async function leaseRatePoints(sql: Sql, requests: readonly RateLeaseRequest[]): Promise<RateLease[]> {
  const rows = await sql.run<RateLease & RateLeaseRequest>(LEASE_RATE_POINTS, [
    requests.map(({ apiKeyId }) => apiKeyId),
    requests.map(({ bucket }) => bucket),
    requests.map(({ points }) => points),
  ]);
  const byKey = new Map(rows.map((row) => [`${row.apiKeyId} ${row.bucket}`, row]));
  return requests.map(({ apiKeyId, bucket }) => byKey.get(`${apiKeyId} ${bucket}`)!);
}
