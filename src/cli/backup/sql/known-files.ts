import type { Client } from 'pg';

/**
 * Selects the keys of files that the database knows. The key of a task's file begins with the id of the task; the key
 * of an upload is the id of its blob. Leaves out files of tasks that are newer than the snapshot, files of tasks whose
 * files were purged, and files that no row refers to.
 */
const KNOWN_FILES = `
  select key, (select u.content_type from uploads u where u.blob_id = key limit 1) as content_type
  from unnest($1::text[]) as key
  where exists (select from tasks t where t.id = split_part(key, '/', 1) and not t.files_purged)
    or exists (select from upload_blobs b where b.id = key)`;

export interface KnownFile {
  key: string;
  /** null: the file extension tells the type. */
  content_type: string | null;
}

export async function knownFiles(client: Client, keys: string[]): Promise<KnownFile[]> {
  return (await client.query<KnownFile>(KNOWN_FILES, [keys])).rows;
}
