import type { Sql, Statement } from '../../platform/database/sql.ts';

export interface Idempotency {
  idempotency_key: string;
  /** SHA-256 of the canonical body, hex. */
  request_hash: string;
  /** Body of the first response; a repeated request gets it byte for byte. */
  response: string;
  /** Seconds for which the key is kept, from now by the database's clock. */
  key_ttl_s: number;
}

/** The response that the first request with an idempotency key got. */
export interface FirstResponse {
  api_key_id: string;
  key: string;
  /** SHA-256 of the canonical body, hex. */
  request_hash: string;
  task_id: string;
  response: string;
}

interface MayBeKeyed {
  api_key_id: string;
  idempotency_key?: string;
}

/** Raw SQL because the keys of a whole batch are looked up in one statement. */
const FIND_KEYS: Statement = {
  name: 'tasks.find_idempotency_keys',
  text: `
    select k.api_key_id, k.key, encode(k.request_hash, 'hex') as request_hash, k.task_id, k.response
    from unnest($1::text[], $2::text[]) as w(api_key_id, key) join idempotency_keys k using (api_key_id, key)
    where k.expires_at >= now()`,
};

/** Identifies an idempotency key among those of all API keys. */
export const slotOf = ({ api_key_id, idempotency_key }: MayBeKeyed): string | undefined =>
  idempotency_key === undefined ? undefined : slotName(api_key_id, idempotency_key);

const slotName = (apiKeyId: string, key: string): string => `${apiKeyId} ${key}`;

/** @returns the first responses to requests with these idempotency keys, by `slotOf` of the task */
export async function firstResponsesOf(sql: Sql, tasks: MayBeKeyed[]): Promise<Map<string, FirstResponse>> {
  const keyed = tasks.filter(({ idempotency_key }) => idempotency_key !== undefined);
  if (keyed.length === 0) return new Map();
  const rows = await sql.run<FirstResponse>(FIND_KEYS, [
    keyed.map(({ api_key_id }) => api_key_id),
    keyed.map(({ idempotency_key }) => idempotency_key),
  ]);
  return new Map(rows.map((row) => [slotName(row.api_key_id, row.key), row]));
}

/**
 * Separates tasks whose idempotency key an earlier task of the list has, because one statement cannot insert the same
 * key twice.
 */
export function withoutDuplicates<Item extends MayBeKeyed>(
  tasks: Item[],
): { firsts: Item[]; duplicates: { item: Item; first: Item }[] } {
  const firsts = new Map<string | Item, Item>();
  const duplicates: { item: Item; first: Item }[] = [];
  for (const item of tasks) {
    const slot = slotOf(item) ?? item;
    const first = firsts.get(slot);
    if (first) duplicates.push({ item, first });
    else firsts.set(slot, item);
  }
  return { firsts: [...firsts.values()], duplicates };
}
