import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type Client, escapeIdentifier } from 'pg';

/** Every column that can contain a text, of every table in every schema. A partition is searched through its table. */
const COLUMNS = `
  select n.nspname as schema, c.relname as table, a.attname as column, t.typname as type
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
    and t.typname in ('text', 'varchar', 'bpchar', 'name', 'json', 'jsonb', 'bytea', 'xml', '_text', '_varchar', '_json', '_jsonb', '_bytea')
  order by 1, 2, 3`;

/** @returns `table.column` for each column that contains the text: as text, as bytes or in hexadecimal */
export async function columnsWith(database: Client, text: string): Promise<string[]> {
  const { rows } = await database.query<{ schema: string; table: string; column: string }>(COLUMNS);
  const found: string[] = [];
  for (const { schema, table, column } of rows) {
    const of = `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
    const value = `${escapeIdentifier(column)}::text`;
    const { rowCount } = await database.query(
      `select 1 from ${of} where position($1 in ${value}) > 0 or position(encode(convert_to($1, 'utf8'), 'hex') in ${value}) > 0 limit 1`,
      [text],
    );
    if (rowCount) found.push(`${table}.${column}`);
  }
  return found;
}

/** How many columns `columnsWith` searches. */
export async function searchedColumns(database: Client): Promise<number> {
  return (await database.query(COLUMNS)).rows.length;
}

/** @returns the files below the folder whose path or bytes contain the text */
export function filesWith(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => relative(folder, path).includes(text) || readFileSync(path).includes(text))
    .map((path) => relative(folder, path));
}
