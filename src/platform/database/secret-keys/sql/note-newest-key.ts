import type { Sql, Statement } from '../../sql.ts';
import { isAgreed } from '../agreed.ts';

/**
 * Seconds in which the row is not written again: half of the time between two notes of a process. However many
 * processes have the same key, they write its row at most twice between two notes of one of them.
 */
const FRESH_S = 15;

/** Notes the newest key of this process, and finds out whether another process has another newest key. */
const NOTE: Statement = {
  name: 'secrets.note_newest',
  text: `
    with noted as (
      insert into secret_keys as known (id, newest_at) values ($1, now())
      on conflict (id) do update set newest_at = now() where known.newest_at < now() - interval '${FRESH_S} seconds'
    )
    select ${isAgreed('$1')} as agreed`,
};

/** @returns whether all processes have this key as their newest */
export async function noteNewestKey(sql: Sql, keyId: string): Promise<boolean> {
  const [row] = await sql.run<{ agreed: boolean }>(NOTE, [keyId]);
  return row!.agreed;
}
