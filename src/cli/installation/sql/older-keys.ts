import type { DataSource } from 'typeorm';

/** What still needs one key of SECRET_KEY that is not the newest. */
export interface OlderKeyUse {
  /** null: an earlier release wrote the rows, or the two secrets of an endpoint need different keys. */
  secret_key_id: string | null;
  api_keys: number;
  webhook_endpoints: number;
  /** The ids of at most five of these API keys. */
  examples: string[];
}

/** Counts an API key only while it works, because nobody can use a revoked or expired one. */
const USES = `
  with api as (
    select s.secret_key_id, count(distinct k.id)::int as api_keys, (array_agg(distinct k.id))[1:5] as examples
    from api_key_secrets s join api_keys k on k.id = s.api_key_id
    where s.secret_key_id is distinct from $1 and k.revoked_at is null and coalesce(least(k.expires_at, s.expires_at) > now(), true)
    group by 1
  ), hooks as (
    select secret_key_id, count(*)::int as webhook_endpoints
    from webhook_endpoints where secret_key_id is distinct from $1 group by 1
  )
  select coalesce(api.secret_key_id, hooks.secret_key_id) as secret_key_id, coalesce(api_keys, 0) as api_keys,
         coalesce(webhook_endpoints, 0) as webhook_endpoints, coalesce(examples, '{}') as examples
  from api full join hooks on coalesce(api.secret_key_id, '') = coalesce(hooks.secret_key_id, '')
  order by 1`;

/** @param keyId the id of the newest SECRET_KEY */
export const readOlderKeyUses = (dataSource: DataSource, keyId: string): Promise<OlderKeyUse[]> =>
  dataSource.query<OlderKeyUse[]>(USES, [keyId]);

/** For each SECRET_KEY but the newest, when a process last signed links with it. */
export const readOlderSigners = (dataSource: DataSource, keyId: string): Promise<{ id: string; newest_at: Date }[]> =>
  dataSource.query(`select id, newest_at from secret_keys where id <> $1 order by id`, [keyId]);
