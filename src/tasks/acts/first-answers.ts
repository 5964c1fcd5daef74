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

interface MaybeKeyed {
  api_key_id: string;
  idempotency_key?: string;
}

const FIND_KEYS: Statement = {
  name: 'tasks.find_idempotency_keys',
  text: `
    select k.api_key_id, k.key, encode(k.request_hash, 'hex') as request_hash, k.task_id, k.response
    from unnest($1::text[], $2::text[]) as w(api_key_id, key) join idempotency_keys k using (api_key_id, key)
    where k.expires_at >= now()`,
};

/** What names the key among those of all tenants; null without one. */
export const slotOf = ({ api_key_id, idempotency_key }: MaybeKeyed): string | null =>
  idempotency_key === undefined ? null : slot(api_key_id, idempotency_key);

const slot = (apiKeyId: string, key: string): string => `${apiKeyId} ${key}`;

/** @returns by slot */
export async function firstAnswersOf(sql: Sql, tasks: MaybeKeyed[]): Promise<Map<string, FirstAnswer>> {
  const keyed = tasks.filter(({ idempotency_key }) => idempotency_key !== undefined);
  if (keyed.length === 0) return new Map();
  const rows = await sql.run<FirstAnswer>(FIND_KEYS, [
    keyed.map(({ api_key_id }) => api_key_id),
    keyed.map(({ idempotency_key }) => idempotency_key),
  ]);
  return new Map(rows.map((row) => [slot(row.api_key_id, row.key), row]));
}

/** One statement cannot insert the same key twice, so of the twins in a batch only the first is inserted. */
export function withoutTwins<Item extends MaybeKeyed>(tasks: Item[]): { firsts: Item[]; twins: Item[] } {
  const seen = new Set<string>();
  const firsts: Item[] = [];
  const twins: Item[] = [];
  for (const task of tasks) {
    const mine = slotOf(task);
    if (mine && seen.has(mine)) twins.push(task);
    else firsts.push(task);
    if (mine) seen.add(mine);
  }
  return { firsts, twins };
}
