/**
 * SQL: the ids of the key `id` and of all keys below it: those that it has made, those that they have made and so on.
 * The maker of a key never changes.
 * @param id the placeholder of a parameter
 */
export const keysFrom = (id: string): string => `
      with recursive made(id) as (
        select ${id}::text collate "C" union all select k.id from made m join api_keys k on k.created_by = m.id
      ) select id from made`;

/**
 * SQL: like `keysFrom` if the key has a limit of this name above 0. Otherwise only the key's own id, because no limit
 * counts what the keys below it store.
 */
export const keysWithin = (
  id: string,
  limit: 'max_file_bytes' | 'max_request_file_bytes' | 'max_kept_bytes',
): string => `
      with recursive made(id, shares) as (
        select ${id}::text collate "C", exists (select from api_keys where id = ${id} and (limits->>'${limit}')::numeric > 0)
        union all
        select k.id, true from made m join api_keys k on k.created_by = m.id where m.shares
      ) select id from made`;
