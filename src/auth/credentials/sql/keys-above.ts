import type { EntityManager } from 'typeorm';
import type { ApiKeyLimits } from '../../limits/api-key-limits.ts';

/** A key that bounds another one, with its own limits and models. */
export interface BoundingKey {
  apiKeyId: string;
  limits: ApiKeyLimits;
  models: string[] | null;
}

/**
 * SQL fragment: the keys above a row `k` of api_keys (its maker, the maker's maker and so on) that have limits, models
 * or an expiry. The key `k` expires with the first of them. A key without a maker costs one look-up that finds nothing.
 */
export const KEYS_ABOVE = `
    left join lateral (
      with recursive above as (
        select p.id, p.created_by, p.limits, p.models, p.expires_at, p.revoked_at from api_keys p where p.id = k.created_by
        union all
        select p.id, p.created_by, p.limits, p.models, p.expires_at, p.revoked_at from above a join api_keys p on p.id = a.created_by
      )
      select coalesce(bool_or(revoked_at is not null), false) as revoked, min(expires_at) as expires_at,
             coalesce(json_agg(json_build_object('apiKeyId', id, 'limits', limits, 'models', models))
               filter (where limits <> '{}' or models is not null), '[]') as bounds
      from above where limits <> '{}' or models is not null or expires_at is not null
    ) above on true`;

interface KeysAbove {
  bounds: BoundingKey[];
  /** The earliest expiry among the keys above; null: none of them expires. */
  expires_at: Date | null;
}

/** @param id the id of a key that exists */
export async function keysAbove(tx: EntityManager, id: string): Promise<KeysAbove> {
  const above = `select above.bounds, above.expires_at from api_keys k${KEYS_ABOVE} where k.id = $1`;
  const [row] = await tx.query<KeysAbove[]>(above, [id]);
  return row!;
}
