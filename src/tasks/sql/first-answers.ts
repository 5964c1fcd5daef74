import type { Sql, Statement } from '../../platform/database/sql.ts';

/** What an idempotency key was answered first. */
export interface FirstAnswer {
  api_key_id: string;
  key: string;
  /** SHA-256 of the canonical body, hex. */
  request_hash: string;
  task_id: string;
  response: string;
}

interface Keyed {
  api_key_id: string;
  idempotency_key: string;
}

const FIND_KEYS: Statement = {
  name: 'tasks.find_idempotency_keys',
  text: `
    select k.api_key_id, k.key, encode(k.request_hash, 'hex') as request_hash, k.task_id, k.response
    from unnest($1::text[], $2::text[]) as w(api_key_id, key) join idempotency_keys k using (api_key_id, key)
    where k.expires_at >= now()`,
};

/** What names the key among those of all tenants. */
export const slotOf = ({ api_key_id, idempotency_key }: Keyed): string => slot(api_key_id, idempotency_key);

const slot = (apiKeyId: string, key: string): string => `${apiKeyId} ${key}`;

/** @returns by slot */
export async function firstAnswersOf(sql: Sql, tasks: Keyed[]): Promise<Map<string, FirstAnswer>> {
  if (tasks.length === 0) return new Map();
  const rows = await sql.run<FirstAnswer>(FIND_KEYS, [
    tasks.map(({ api_key_id }) => api_key_id),
    tasks.map(({ idempotency_key }) => idempotency_key),
  ]);
  return new Map(rows.map((row) => [slot(row.api_key_id, row.key), row]));
}

/** One statement cannot insert the same key twice, so of the twins in a batch only the first is inserted. */
export function withoutTwins<Item extends Keyed>(tasks: Item[]): { firsts: Item[]; twins: Item[] } {
  const seen = new Set<string>();
  const firsts: Item[] = [];
  const twins: Item[] = [];
  for (const task of tasks) {
    const mine = slotOf(task);
    (seen.has(mine) ? twins : firsts).push(task);
    seen.add(mine);
  }
  return { firsts, twins };
}
