import { DAY_MS, timeOfId } from '../../schema/time.ts';
import type { Sql, Tx } from '../sql.ts';
import { endOfDropped } from './dropped-below.ts';
import { dropPartitions, type DropResult } from './drop-partition.ts';
import { makePartitions } from './make-partitions.ts';
import type { Partitioned } from './partitioned.ts';
import { type Partition, readPartitions } from './read-partitions.ts';

/** Tables that a room has partitioned. */
export interface SweptTables extends Partitioned {
  /** Until then nothing of a partition is dropped. */
  retentionDays: number;
  /** @returns SQL: whether these partitions, one of each table, must stay although their time is over */
  keeps(partitions: string[]): string;
  /** Writes what must be written before these partitions are dropped. It may be called many times. */
  prepareDrop?(partitions: string[]): Promise<void>;
}

/** An arbitrary fixed number that no other lock of this database has ("part" in ASCII): one process makes and drops partitions. */
const LOCK = 0x70617274;
const TAKE_TURN =
  'select pg_try_advisory_xact_lock($1::int) as is_mine, floor(extract(epoch from now()) * 1000)::float8 as now_ms';

const NOTE_DROPPED_BELOW = `
  insert into partitioned_tables as t (name, dropped_below) values ($1, $2)
  on conflict (name) do update set dropped_below = excluded.dropped_below where t.dropped_below <> excluded.dropped_below`;

export interface PartitionState {
  /** Of the first table. */
  partitions: Partition[];
  made: string[];
  /** Those that may be dropped once nothing in them is needed any more. */
  expired: Partition[];
  /** Of the database. */
  nowMs: number;
}

/** Makes what is missing for the days to come, unless another process is at it. Raw SQL because TypeORM knows no partitions. */
export function makeAhead(sql: Sql, tables: SweptTables, days: number): Promise<PartitionState> {
  const [{ name }] = tables.tables;
  return sql.transaction(async (tx) => {
    const { isMine, nowMs } = await takeTurn(tx);
    if (!isMine) return { partitions: await readPartitions(tx, name), made: [], expired: [], nowMs };
    const { partitions, made } = await makePartitions(tx, tables, nowMs, { days });
    const retentionMs = tables.retentionDays * DAY_MS;
    await tx.query(NOTE_DROPPED_BELOW, [name, endOfDropped(partitions, nowMs, retentionMs)]);
    const expired = partitions.filter(({ to }) => timeOfId(to) + retentionMs < nowMs);
    return { partitions, made, expired, nowMs };
  });
}

/** Drops the partition of this range of each of the tables, unless something in them is needed. */
export async function dropExpired(sql: Sql, tables: SweptTables, { to }: Partition): Promise<DropResult> {
  const names = tables.tables.map(({ name }) => name);
  const partitions = await sql.transaction(async (tx) => {
    const ofTables: Partition[] = [];
    for (const name of names) ofTables.push(...(await readPartitions(tx, name)).filter((each) => each.to === to));
    return ofTables.map(({ name }) => name);
  });
  if (partitions.length < names.length) return 'needed'; // another process has dropped them
  await tables.prepareDrop?.(partitions);
  const keeps = tables.keeps(partitions);
  const isNeeded = await sql.transaction(async (tx) => ((await tx.query(`select where ${keeps}`)).rowCount ?? 0) > 0);
  return isNeeded ? 'needed' : dropPartitions(sql, { tables: names, partitions, keeps, lock: LOCK });
}

async function takeTurn(tx: Tx): Promise<{ isMine: boolean; nowMs: number }> {
  const { rows } = await tx.query<{ is_mine: boolean; now_ms: number }>(TAKE_TURN, [LOCK]);
  return { isMine: rows[0]!.is_mine, nowMs: rows[0]!.now_ms };
}
