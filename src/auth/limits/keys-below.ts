/**
 * SQL: the ids of the key `id` and of all that it has made, that they have made and so on. Who made a key never
 * changes.
 * @param id a parameter
 */
export const keysFrom = (id: string): string => `
      with recursive made(id) as (
        select ${id}::text collate "C" union all select k.id from made m join api_keys k on k.created_by = m.id
      ) select id from made`;

/** The same, but only the key itself if it has no own limit of this name. 0 is none. What it has made then does not count for it. */
export const keysWithin = (
  id: string,
  limit: 'max_file_bytes' | 'max_request_file_bytes' | 'max_kept_bytes',
): string => `
      with recursive made(id, shares) as (
        select ${id}::text collate "C", exists (select from api_keys where id = ${id} and (limits->>'${limit}')::numeric > 0)
        union all
        select k.id, true from made m join api_keys k on k.created_by = m.id where m.shares
      ) select id from made`;
