import type { Sql, Statement, Tx } from '../../platform/database/sql.ts';
import type { ErasureCounts } from './erasure-step.ts';
import type { ErasureWork } from './erasure-work.ts';

/**
 * Reads a table in the order of its primary key, a piece at a time, because no index leads to the rows of an API key.
 * Continues where an earlier process stopped.
 * @param see reads the piece of the table after the id `$2`. `last` is the last id of the piece; null at the end of the
 *   table. `ids` are the rows of the key `$1`; null if there are none
 * @param erase gets at most as many ids as a piece has
 */
export async function readThrough(
  sql: Sql,
  work: ErasureWork,
  see: Statement,
  erase: (tx: Tx, ids: string[]) => Promise<ErasureCounts>,
): Promise<'done'> {
  for (let cursor = work.cursor ?? ''; ;) {
    const [seen] = await sql.run<{ last: string | null; ids: string[] | null }>(see, [work.apiKeyId, cursor]);
    if (!seen?.last) return 'done';
    const { last, ids } = seen;
    await work.commit(async (tx) => ({ erased: ids ? await erase(tx, ids) : {} }), last);
    cursor = last;
  }
}
