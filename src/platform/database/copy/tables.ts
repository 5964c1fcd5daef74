import { type Client, escapeIdentifier } from 'pg';
import { sinceBaseline } from '../baseline-names.ts';

/** The migrations write this table, so a copy leaves it out. */
const MIGRATIONS_TABLE = 'schema_migrations';
/** A migration inserts the only row of each of these tables. So such a row does not mean that the database has data. */
const SEEDED_TABLES = ['storage_marker', 'words_state', 'line'];

export interface CopiedTable {
  name: string;
  columns: string[];
}

/** A table that exists in a database, and the order in which a copy reads its rows. */
export interface StoredTable extends CopiedTable {
  /** The columns of the primary key if the table is partitioned; otherwise empty. */
  order: string[];
}

interface FoundTable extends StoredTable {
  parents: string[];
}

/**
 * Leaves out partitions, because they are read and written through their table. Leaves out tables of extensions too.
 */
const TABLES = `
  select c.relname as name,
    array(
      select a.attname::text from pg_attribute a
      where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum
    ) as columns,
    array(
      select p.relname::text from pg_constraint k join pg_class p on p.oid = k.confrelid
      where k.conrelid = c.oid and k.contype = 'f' and p.oid <> c.oid
    ) as parents,
    array(
      select a.attname::text from pg_index i cross join unnest(i.indkey::int2[]) with ordinality as k(attnum, nth)
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
      where i.indrelid = c.oid and i.indisprimary and c.relkind = 'p' order by k.nth
    ) as "order"
  from pg_class c
  where c.relnamespace = (select oid from pg_namespace where nspname = current_schema())
    and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> $1
    and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e')
  order by c.relname`;

/** The tables of the service, each after the tables that its foreign keys reference. */
export async function readTables(client: Client): Promise<StoredTable[]> {
  const waiting = (await client.query<FoundTable>(TABLES, [MIGRATIONS_TABLE])).rows;
  const ordered: StoredTable[] = [];
  while (waiting.length > 0) {
    const next = waiting.findIndex(({ parents }) => !waiting.some(({ name }) => parents.includes(name)));
    if (next === -1) throw new Error('Tables of the database reference one another in a circle.');
    const [{ name, columns, order }] = waiting.splice(next, 1) as [FoundTable];
    ordered.push({ name, columns, order });
  }
  return ordered;
}

/**
 * Locks the tables, so that nobody drops or alters them until the transaction ends.
 * @param mode `access share` permits other sessions to read and write, `exclusive` only to read
 */
export async function lockTables(
  client: Client,
  tables: CopiedTable[],
  mode: 'access share' | 'exclusive' = 'access share',
): Promise<void> {
  const names = tables.map(({ name }) => escapeIdentifier(name));
  if (names.length > 0) await client.query(`lock table ${names.join(', ')} in ${mode} mode`);
}

export async function truncateTables(client: Client, tables: CopiedTable[]): Promise<void> {
  await client.query(`truncate ${tables.map(({ name }) => escapeIdentifier(name)).join(', ')}`);
}

/** @throws Error for the operator, which names the tables that have rows */
export async function assertEmpty(client: Client): Promise<void> {
  const filled: string[] = [];
  for (const { name } of await readTables(client)) {
    if (SEEDED_TABLES.includes(name)) continue;
    const { rowCount } = await client.query(`select from ${escapeIdentifier(name)} limit 1`);
    if (rowCount) filled.push(name);
  }
  if (filled.length > 0) {
    throw new Error(`The database is not empty: ${filled.join(', ')} ${filled.length === 1 ? 'has' : 'have'} rows.`);
  }
}

/** The names of the migrations that ran in the database, as this program names them; none in a new database. */
export async function readMigrations(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ has: boolean }>('select to_regclass($1) is not null as has', [
    MIGRATIONS_TABLE,
  ]);
  if (!rows[0]!.has) return [];
  const done = await client.query<{ name: string }>(`select name from ${MIGRATIONS_TABLE} order by timestamp`);
  return sinceBaseline(done.rows.map(({ name }) => name));
}
