import { escapeIdentifier } from 'pg';
import { DAY_MS, idBoundAt, timeOfId } from '../../schema/time.ts';
import type { Partitioned } from './partitioned.ts';
import { midnightBefore, type Range, rangesAhead } from './ranges.ts';
import { inOrder, type Partition, type Queryable, rangeOf, readPartitions, restOf } from './read-partitions.ts';

interface Settings {
  /** Days of a new partition. */
  days: number;
  /** Also make those of days before today; otherwise what came then stays in the partition for the rest. */
  fillGap?: boolean;
}

/** Statements of the service wait behind this one for a lock. */
const LOCK_TIMEOUT = `select set_config('lock_timeout', '50ms', true)`;

/** Of the newest partition, as an operator may have changed them. */
const STORAGE_PARAMETERS = `
  select array_to_string(c.reloptions || array(select 'toast.' || o from unnest(t.reloptions) o), ', ') as options
  from pg_class c left join pg_class t on t.oid = c.reltoastrelid where c.oid = $1::regclass`;

/**
 * Makes the partitions of the days to come. Call it in a transaction, in one process at a time.
 * @returns all partitions of the first table, with the names of the new ones
 */
export async function makePartitions(
  tx: Queryable,
  by: Partitioned,
  nowMs: number,
  { days, fillGap = false }: Settings,
): Promise<{ partitions: Partition[]; made: string[] }> {
  const [first] = by.tables;
  const partitions = await readPartitions(tx, first.name);
  const [oldest] = partitions;
  if (!oldest) return { partitions, made: [] }; // the tables have no partitions at all
  const fromMs = fillGap ? timeOfId(oldest.to) : midnightBefore(nowMs);
  const ranges = rangesAhead(partitions.map(rangeOf), fromMs, nowMs, days);
  const made: Partition[] = [];
  const attach: string[] = [];
  for (const range of ranges) {
    const free = await freePartOf(tx, by, range);
    if (!free) continue;
    const [from, to] = [idBoundAt(free.fromMs, by.prefix), idBoundAt(free.toMs, by.prefix)];
    for (const table of by.tables) {
      const name = await make(tx, table.name, free);
      attach.push(`alter table ${table.name} attach partition ${name} for values from ('${from}') to ('${to}')`);
      if (table === first) made.push({ name, from, to });
    }
  }
  // Last, because a statement that writes to one of the tables waits from here on until the commit.
  await tx.query(LOCK_TIMEOUT);
  for (const statement of attach) await tx.query(statement);
  return { partitions: inOrder([...partitions, ...made]), made: made.map(({ name }) => name) };
}

/** Rows that came before their partition was made stay where they are, so the partition begins behind them. */
async function freePartOf(
  tx: Queryable,
  { tables, prefix }: Partitioned,
  { fromMs, toMs }: Range,
): Promise<Range | null> {
  const ofTables = tables.map(
    ({ name, key }) => `(select max(${key}) from ${restOf(name)} where ${key} >= $1 and ${key} < $2)`,
  );
  const { rows } = await tx.query<{ last: string | null }>(`select greatest(${ofTables.join(', ')}) as last`, [
    idBoundAt(fromMs, prefix),
    idBoundAt(toMs, prefix),
  ]);
  const last = rows[0]!.last;
  const free = { fromMs: last === null ? fromMs : midnightBefore(timeOfId(last)) + DAY_MS, toMs };
  return free.fromMs < toMs ? free : null;
}

/** With the indexes and parameters of the others. @returns its name */
async function make(tx: Queryable, table: string, { fromMs }: Range): Promise<string> {
  const day = new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '');
  const name = `${table}_${day}`;
  const like = (await readPartitions(tx, table)).at(-1)?.name ?? restOf(table);
  const { rows } = await tx.query<{ options: string | null }>(STORAGE_PARAMETERS, [escapeIdentifier(like)]);
  const options = rows[0]?.options;
  await tx.query(`create table ${name} (like ${table} including all) ${options ? `with (${options})` : ''}`);
  return name;
}
