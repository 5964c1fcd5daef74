import type { Sql, Statement } from '../../platform/database/sql.ts';
import { type RateBucket, WINDOW_S } from '../rate-limits/rate-window.ts';

export interface LeaseAsked {
  apiKeyId: string;
  bucket: RateBucket;
  /** At least 1. */
  points: number;
}

/** What all processes together have taken of a window. */
export interface Lease {
  /** The points just asked for included. May pass the limit, of which this statement knows nothing. */
  taken: number;
  /** Milliseconds until the window ends, by the database's clock. */
  msLeft: number;
}

/**
 * Takes points for many keys at once; the first to take opens the window. Only the database's clock counts, or a process
 * whose own is ahead would begin a new minute early. `now()` throughout, since it is one instant for the whole statement:
 * between two readings of the clock a window could end, and its count begin anew in the old one. Sorted, so that two
 * processes cannot lock each other out.
 */
const LEASE: Statement = {
  name: 'auth.lease-rate-points',
  text: `
  insert into rate_windows as known (api_key_id, bucket, ends_at, taken)
  select api_key_id, bucket, now() + interval '${WINDOW_S} seconds', points
    from unnest($1::text[], $2::text[], $3::bigint[]) as asked (api_key_id, bucket, points)
   order by api_key_id, bucket
      on conflict (api_key_id, bucket) do update
     set ends_at = case when known.ends_at > now() then known.ends_at else excluded.ends_at end,
         taken = case when known.ends_at > now() then known.taken else 0 end + excluded.taken
  returning api_key_id as "apiKeyId", bucket, taken::float8,
            (extract(epoch from ends_at - clock_timestamp()) * 1000)::float8 as "msLeft"`,
};

/** Answers in the order asked; a key and bucket may be asked for once only. */
export async function leaseRatePoints(sql: Sql, asked: readonly LeaseAsked[]): Promise<Lease[]> {
  const rows = await sql.run<Lease & LeaseAsked>(LEASE, [
    asked.map(({ apiKeyId }) => apiKeyId),
    asked.map(({ bucket }) => bucket),
    asked.map(({ points }) => points),
  ]);
  const byKey = new Map(rows.map((row) => [`${row.apiKeyId} ${row.bucket}`, row]));
  return asked.map(({ apiKeyId, bucket }) => byKey.get(`${apiKeyId} ${bucket}`)!);
}
