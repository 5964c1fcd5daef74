import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../src/platform/database/data-source.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { MIGRATIONS } from '../../src/platform/database/migrations.ts';
import { Baseline1700000000043 } from '../../src/platform/database/migrations/0043-baseline.ts';
import { NoChecksOfTasks1700000000043 } from '../../src/platform/database/migrations/0043-no-checks-of-tasks.ts';
import { emptyDatabase } from '../support/database.ts';
import { queryOnce } from '../support/faults/watch.ts';

/** What a schema is made of, without partitions: one line each. */
const SCHEMA = `
  with tables as (
    select * from pg_class c where c.relnamespace = 'public'::regnamespace and not c.relispartition and c.relkind in ('r', 'p')
  )
  select relname || ' ' || relkind::text || ' ' || relpersistence::text || ' ' || coalesce(reloptions::text, '') as line from tables
  union all
  select c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull || ' ' ||
         coalesce((select collname::text from pg_collation l where l.oid = a.attcollation), '') || ' ' ||
         coalesce((select pg_get_expr(d.adbin, d.adrelid) from pg_attrdef d where d.adrelid = c.oid and d.adnum = a.attnum), '')
  from tables c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  union all
  select c.relname || ' ' || k.contype::text || ' ' || replace(pg_get_constraintdef(k.oid), ' NOT VALID', '')
  from tables c join pg_constraint k on k.conrelid = c.oid where k.contype <> 'n'
  union all
  select pg_get_indexdef(i.indexrelid) from tables c join pg_index i on i.indrelid = c.oid
  union all
  select p.relname || ' < ' || t.relname || ' ' || coalesce(t.reloptions::text, '') || ' ' || pg_get_expr(t.relpartbound, t.oid)
  from pg_inherits h join pg_class t on t.oid = h.inhrelid join tables p on p.oid = h.inhparent
  order by 1`;

const LATER = MIGRATIONS.slice(MIGRATIONS.indexOf(NoChecksOfTasks1700000000043) + 1);

it('the baseline makes what the migrations before it made', async () => {
  const [chain, baseline] = [await emptyDatabase(), await emptyDatabase()];
  try {
    await migrate(chain.url);
    const source = new DataSource({
      ...dataSourceOptions(baseline.url),
      migrations: [Baseline1700000000043, ...LATER],
    });
    await source.initialize();
    await source.runMigrations();
    await source.destroy();
    const linesOf = async (url: string) => (await queryOnce<{ line: string }>(url, SCHEMA)).map(({ line }) => line);
    const wanted = await linesOf(chain.url);
    expect(await linesOf(baseline.url)).toEqual(wanted);
    expect(wanted.length).toBeGreaterThan(300);
  } finally {
    await chain.drop();
    await baseline.drop();
  }
});
