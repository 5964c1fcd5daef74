import type { ClientBase } from 'pg';
import { timeOfId } from '../../schema/time.ts';
import type { Range } from './ranges.ts';

export type Queryable = Pick<ClientBase, 'query'>;

/** One of the partitions by id. Those of a table have no gap between them unless none was made for a while. */
export interface Partition {
  name: string;
  /** Its smallest id or less; empty: the first one, which holds all that is older. */
  from: string;
  /** More than its largest id. */
  to: string;
}

const READ = `
  select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
  from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass`;

const RANGE = /^FOR VALUES FROM \((?:MINVALUE|'(\w+)')\) TO \('(\w+)'\)$/;

/** Oldest first, without the one that takes what belongs to no other. */
export async function readPartitions(client: Queryable, table: string): Promise<Partition[]> {
  const { rows } = await client.query<{ name: string; bound: string }>(READ, [table]);
  const partitions = rows.flatMap(({ name, bound }) => {
    const [, from = '', to] = RANGE.exec(bound) ?? [];
    return to === undefined ? [] : [{ name, from, to }];
  });
  return inOrder(partitions);
}

/** Oldest first. */
export const inOrder = (partitions: Partition[]): Partition[] =>
  partitions.toSorted((one, other) => (one.to < other.to ? -1 : 1));

/** The partition that takes what belongs to no other. */
export const restOf = (table: string): string => `${table}_rest`;

/** The first one begins at 0. */
export const rangeOf = ({ from, to }: Partition): Range => ({ fromMs: timeOfId(from), toMs: timeOfId(to) });
