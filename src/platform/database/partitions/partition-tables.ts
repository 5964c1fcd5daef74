import { escapeIdentifier, escapeLiteral } from 'pg';
import type { QueryRunner } from 'typeorm';
import { DAY_MS, idBoundAt } from '../../schema/time.ts';
import type { Partitioned } from './partitioned.ts';
import { restOf } from './read-partitions.ts';

/**
 * Days ahead at which the partition of the rows that are there ends. Until the exchange the check refuses later ids, so this must be much
 * longer than a migration that is interrupted and repeated takes.
 */
const AHEAD_DAYS = 30;

/**
 * For each lock of the exchange. All of them together take less than PostgreSQL's deadlock_timeout of 1 s: when a request and the exchange
 * wait for each other, the exchange gives up, and the migration is tried again.
 */
const LOCK_TIMEOUT = `select set_config('lock_timeout', '200ms', true)`;

const regclass = (table: string): string => `${escapeLiteral(table)}::regclass`;

const isDone = (table: string): string => `select from pg_class where oid = ${regclass(table)} and relkind = 'p'`;

/** The bound of an earlier try, as long as it is far enough ahead. */
const check = (table: string): string => `
  select substring(pg_get_constraintdef(oid) from '''([a-z]+_[0-9a-z]+)''') as bound, convalidated as is_valid
  from pg_constraint where conrelid = ${regclass(table)} and conname = '${table}_before'`;

/**
 * In the order of their age, because the planner takes the newest of those that cost the same. But the primary key last: in a partition that
 * was analysed while it was empty all cost the same, and a connection keeps that plan when the partition fills.
 */
const indexes = (table: string): string => `
  select i.indexrelid::regclass::text as name,
         case when i.indisprimary then format('alter table ${table}_parted add constraint %I ', '${table}_parted_' || n.rest) || pg_get_constraintdef(k.oid)
              else format('create ' || (case when i.indisunique then 'unique ' else '' end) || 'index %I on ${table}_parted ', '${table}_parted_' || n.rest) ||
                substring(pg_get_indexdef(i.indexrelid) from ' (USING .*)$') end as definition,
         format('alter index %s rename to %I', i.indexrelid::regclass, '${table}_first_' || n.rest) as rename_first,
         format('alter index %I rename to %I', '${table}_parted_' || n.rest, c.relname) as rename_parted
  from pg_index i join pg_class c on c.oid = i.indexrelid
    left join pg_constraint k on k.conindid = i.indexrelid and k.contype = 'p'
    cross join lateral (select substring(c.relname from '^(?:${table}_)?(.*)$') as rest) n
  where i.indrelid = ${regclass(table)} and i.indisvalid order by i.indisprimary, i.indexrelid`;

/** As an operator may have set them. A partitioned table has none of its own. */
const storageParameters = (table: string): string => `
  select array_to_string(c.reloptions || array(select 'toast.' || o from unnest(t.reloptions) o), ', ') as options
  from pg_class c left join pg_class t on t.oid = c.reltoastrelid where c.oid = ${regclass(table)}`;

const grants = (table: string): string => `
  select format('grant %s on ${table}_parted to %s%s', a.privilege_type,
                case when a.grantee = 0 then 'public' else a.grantee::regrole::text end,
                case when a.is_grantable then ' with grant option' else '' end) as grant
  from pg_class c, aclexplode(c.relacl) a where c.oid = ${regclass(table)} and a.grantee <> c.relowner`;

const triggers = (table: string): string => `
  select format('drop trigger %I on ${table}', tgname) as drop, pg_get_triggerdef(oid) as definition
  from pg_trigger where tgrelid = ${regclass(table)} and not tgisinternal`;

/** With whether it refers to another of the tables: then it goes, because their partitions are dropped together. */
const foreignKeys = (table: string, tables: string[]): string => `
  select conname as name, confrelid::regclass::text as refers_to, pg_get_constraintdef(oid) as definition,
         confrelid in (${tables.map(regclass).join(', ')}) as is_inner
  from pg_constraint where conrelid = ${regclass(table)} and contype = 'f' and conparentid = 0`;

interface Index {
  name: string;
  definition: string;
  rename_first: string;
  rename_parted: string;
}

interface ForeignKey {
  name: string;
  refers_to: string;
  definition: string;
  is_inner: boolean;
}

/** A table with what its exchange needs. */
interface Prepared {
  table: string;
  indexes: Index[];
  foreignKeys: ForeignKey[];
}

/**
 * Partitions tables by their ids, which are in the order of time. The rows stay where they are: each table becomes its first partition. A
 * check shows that none of them belongs elsewhere, so the exchange reads no row. Processes of the last release go on, because tables with the
 * same names have the same columns. For a migration outside of a transaction: the check is validated while the service goes on, which takes minutes
 * of a large table. Each step can be repeated.
 */
export async function partitionTables(runner: QueryRunner, by: Partitioned): Promise<void> {
  const [done] = await rowsOf(runner, isDone(by.tables[0].name));
  if (done) return;
  const bound = await setBound(runner, by);
  const prepared: Prepared[] = [];
  for (const table of by.tables) {
    const foreign = foreignKeys(
      table.name,
      by.tables.map(({ name }) => name),
    );
    const found = {
      table: table.name,
      indexes: await rowsOf<Index>(runner, indexes(table.name)),
      foreignKeys: await rowsOf<ForeignKey>(runner, foreign),
    };
    await makeTable(runner, found, table.key);
    prepared.push(found);
  }
  await exchange(runner, prepared, bound);
}

/** @returns the id before which all rows are, and will be until the exchange */
async function setBound(runner: QueryRunner, { tables, prefix }: Partitioned): Promise<string> {
  const [now] = await rowsOf<{ ms: number }>(runner, 'select floor(extract(epoch from now()) * 1000)::float8 as ms');
  const ms = now?.ms ?? 0;
  const checks = [];
  let hasRows = false;
  for (const { name } of tables) {
    const [found] = await rowsOf<{ bound: string; is_valid: boolean }>(runner, check(name));
    checks.push(found);
    hasRows ||= (await rowsOf(runner, `select from ${name} limit 1`)).length > 0;
  }
  const [first] = checks;
  const mayKeep = first !== undefined && first.bound > idBoundAt(ms + DAY_MS, prefix);
  const bound = mayKeep
    ? first.bound
    : idBoundAt((Math.floor(ms / DAY_MS) + (hasRows ? AHEAD_DAYS : 2)) * DAY_MS, prefix);
  for (const [at, { name, key }] of tables.entries()) {
    const found = checks[at];
    if (found?.bound !== bound) {
      await runner.query(`
        alter table ${name} drop constraint if exists ${name}_before,
          add constraint ${name}_before check (${key} < '${bound}') not valid`);
    } else if (found.is_valid) continue;
    // Reads the table, and lets others read and write it meanwhile.
    await runner.query(`alter table ${name} validate constraint ${name}_before`);
  }
  return bound;
}

/** A partitioned table like that one, without a row. */
async function makeTable(runner: QueryRunner, prepared: Prepared, key: string): Promise<void> {
  const { table, indexes } = prepared;
  // Of an earlier try; no process knows it.
  await runner.query(`
    -- squawk-ignore ban-drop-table
    drop table if exists ${table}_parted`);
  await runner.query(`
    create table ${table}_parted (
      like ${table} including defaults including generated including constraints including storage including compression
                    including comments including statistics
    ) partition by range (${key})`);
  await runner.query(`alter table ${table}_parted drop constraint ${table}_before`);
  for (const { definition } of indexes) await runner.query(definition);
  for (const { name, definition } of outer(prepared)) {
    await runner.query(`alter table ${table}_parted add constraint ${escapeIdentifier(name)} ${definition}`);
  }
  for (const { grant } of await rowsOf<{ grant: string }>(runner, grants(table))) await runner.query(grant);
  const [storage] = await rowsOf<{ options: string | null }>(runner, storageParameters(table));
  // Takes what belongs to no partition, so that no row is refused for want of one.
  await runner.query(
    `create table ${restOf(table)} partition of ${table}_parted default ${storage?.options ? `with (${storage.options})` : ''}`,
  );
}

/** One message, which is one transaction: requests wait for the locks and for changes of the catalogue, for no round trip. */
async function exchange(runner: QueryRunner, prepared: Prepared[], bound: string): Promise<void> {
  const referred = prepared.flatMap((each) => outer(each).map(({ refers_to }) => refers_to));
  const locked = [...new Set(referred), ...prepared.map(({ table }) => table)];
  const statements = [LOCK_TIMEOUT, `lock table ${locked.join(', ')} in access exclusive mode`];
  for (const { table, foreignKeys } of prepared) {
    for (const { name } of foreignKeys.filter(({ is_inner }) => is_inner)) {
      statements.push(`alter table ${table} drop constraint ${escapeIdentifier(name)}`);
    }
  }
  for (const { table, indexes } of prepared) {
    const ofTable = await rowsOf<{ drop: string; definition: string }>(runner, triggers(table));
    statements.push(
      ...ofTable.map(({ drop }) => drop),
      ...indexes.flatMap(({ rename_first, rename_parted }) => [rename_first, rename_parted]),
      // The name goes over to a table with the same columns, in one transaction.
      `-- squawk-ignore renaming-table\nalter table ${table} rename to ${table}_first`,
      `-- squawk-ignore renaming-table\nalter table ${table}_parted rename to ${table}`,
      `alter table ${table} attach partition ${table}_first for values from (minvalue) to ('${bound}')`,
      `alter table ${table}_first drop constraint ${table}_before`,
      ...ofTable.map(({ definition }) => definition),
    );
  }
  await runner.query(statements.join(';\n'));
}

const outer = ({ foreignKeys }: Prepared): ForeignKey[] => foreignKeys.filter(({ is_inner }) => !is_inner);

/** None where the statements are only recorded. */
async function rowsOf<Row extends object>(runner: QueryRunner, text: string): Promise<Row[]> {
  return ((await runner.query(text)) as Row[] | undefined) ?? [];
}
