import { timeOfId } from '../../schema/time.ts';
import { Servers } from '../servers/servers.ts';
import type { Partitioned } from './partitioned.ts';
import { type Queryable, readPartitions, restOf } from './read-partitions.ts';

/** Rows of a default partition that are counted. */
const MOST_COUNTED = 10_000;

/**
 * For an operator: the partitions of these tables.
 * @param url of a migrated database
 */
export async function partitionReport(url: string, by: Partitioned): Promise<string> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:check', connectionTimeoutMillis: 5_000 });
  try {
    return await noteOf(client, by);
  } finally {
    await client.end();
  }
}

async function noteOf(client: Queryable, { tables }: Partitioned): Promise<string> {
  const names = tables.map(({ name }) => name);
  const partitions = await readPartitions(client, names[0]!);
  const ends = partitions.map(({ to }) => new Date(timeOfId(to)).toISOString().slice(0, 10));
  const filled: string[] = [];
  for (const rest of names.map(restOf)) {
    const { rowCount } = await client.query(`select from ${rest} limit ${MOST_COUNTED}`);
    if (rowCount) filled.push(`${rowCount === MOST_COUNTED ? 'at least ' : ''}${rowCount} rows in ${rest}`);
  }
  const range = ends.length === 0 ? '' : `, the oldest until ${ends[0]}, the newest until ${ends.at(-1)}`;
  return `${names.join(', ')}: ${ends.length} partitions${range}; ${filled.join(', ') || 'none has rows outside of them'}`;
}
