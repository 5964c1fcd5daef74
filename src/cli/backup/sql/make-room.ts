import type { Client } from 'pg';
import { makePartitions } from '../../../platform/database/partitions/make-partitions.ts';
import { TASK_TABLES } from '../../../tasks/record/partitioned-tables.ts';
import { EVENT_TABLES } from '../../../webhooks/record/partitioned-tables.ts';

const IS_PARTITIONED = `
  select floor(extract(epoch from now()) * 1000)::float8 as now_ms from pg_class where oid = $1::regclass and relkind = 'p'`;

/** Makes the partitions that the rows of a copy belong to; its database may have been empty for months. Call it in the transaction of the copy. */
export async function makeRoom(client: Client, days: number): Promise<void> {
  for (const by of [TASK_TABLES, EVENT_TABLES]) {
    const { rows } = await client.query<{ now_ms: number }>(IS_PARTITIONED, [by.tables[0].name]);
    if (!rows[0]) continue; // the copy is of a version before
    await makePartitions(client, by, rows[0].now_ms, { days, fillGap: true });
  }
}
