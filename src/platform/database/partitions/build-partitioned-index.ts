import { escapeIdentifier, escapeLiteral } from 'pg';
import type { QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.ts';

interface PartitionedIndex {
  table: string;
  name: string;
  /** What follows the name of the table in `create index`. */
  definition: string;
}

/** Those without it. */
const PARTITIONS = ({ table, name }: PartitionedIndex): string => `
  select c.relname as name from pg_inherits p join pg_class c on c.oid = p.inhrelid
  where p.inhparent = ${escapeLiteral(table)}::regclass and not exists (
    select from pg_index i join pg_inherits of on of.inhrelid = i.indexrelid
    where i.indrelid = c.oid and of.inhparent = to_regclass(${escapeLiteral(name)}))
  order by c.relname`;

/**
 * Builds an index of a partitioned table, one partition after the other, while the service goes on. For migrations outside of a transaction: each
 * step can be repeated. PostgreSQL does not build it concurrently by itself. A partition that is made meanwhile gets it with the others.
 */
export async function buildPartitionedIndex(runner: QueryRunner, index: PartitionedIndex): Promise<void> {
  const { table, name, definition } = index;
  // Of the table without its partitions, so nothing is read under the lock, for which writers wait.
  await runner.query(
    `-- squawk-ignore require-concurrent-index-creation\ncreate index if not exists ${name} on only ${table} ${definition}`,
  );
  const partitions = ((await runner.query(PARTITIONS(index))) as { name: string }[] | undefined) ?? [];
  for (const partition of partitions) {
    const part = escapeIdentifier(partition.name + name.slice(table.length));
    await runner.query(`set lock_timeout = '30s'`); // the build waits for every open transaction, and nobody for the build
    await buildIndex(
      runner,
      part,
      `create index concurrently ${part} on ${escapeIdentifier(partition.name)} ${definition}`,
    );
    await runner.query('reset lock_timeout');
    await runner.query(`alter index ${name} attach partition ${part}`);
  }
}
