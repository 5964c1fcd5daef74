import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { DIMENSIONS, NUMBER_LIST, NUMBER_NAMES, NUMBERS } from './sum-columns.ts';

/** The most ledger rows that one round adds. */
export const ROLL_UP_ROWS = 5_000;

/**
 * The most values of a metadata name that have sums of their own, for each API key and UTC day. Further values are
 * summed together, because a client may send a new value with each task.
 */
const MOST_VALUES = 1_000;
/** The most metadata names of one API key and UTC day. Further names have no sums. */
const MOST_NAMES = 100;
const OTHER_VALUES = '(other)';

const EPOCH = `timestamptz '1970-01-01 00:00Z'`;
const LEDGER_DIMENSIONS = DIMENSIONS.map((name) => `l.${name}`).join(', ');
const SUMMED = NUMBER_NAMES.map((name) => `sum(${name})`).join(', ');
const ADDED = NUMBER_NAMES.map((name) => `${name} = usage_sums.${name} + excluded.${name}`).join(', ');

/**
 * SQL: numbers the names or values that have no sums of their own on a day yet (`nth`), and counts those that have
 * (`known`). Names are stored as values of the name '', which no metadata has.
 */
const freshIn = (pairs: string, key: string, hash: string): string => `
      select api_key_id, key, on_day, hash, nth,
             max(case when nth = 1 then (
               select count(*) from usage_values v where (v.day, v.api_key_id, v.metadata_key) = (on_day, numbered.api_key_id, key)
             ) end) over (partition by api_key_id, key, on_day) as known
      from (
        select p.*, row_number() over (partition by api_key_id, key, on_day order by hash) as nth
        from (select distinct api_key_id, ${key} as key, on_day, ${hash} as hash from ${pairs}) p
        where not exists (
          select from usage_values v
          where (v.day, v.api_key_id, v.metadata_key, v.value_hash) = (p.on_day, p.api_key_id, p.key, p.hash))
      ) numbered`;

/**
 * Adds rows of the ledger to the sums and marks these rows, in one statement. So a row is added exactly once, whatever
 * its time and however late its transaction committed. A time could not replace the mark: the time of a row is the
 * beginning of its transaction, and a transaction that began later may commit first. The advisory lock lets one process
 * add at a time; the others find nothing to do. A row is not added as long as a late confirmation from the provider may
 * still correct its cost.
 */
const ROLL_UP: Statement = {
  name: 'usage.roll_up',
  text: `
    with gate as materialized (
      select pg_try_advisory_xact_lock(hashtextextended('usage roll-up', 0)) as is_open
    ), taken as (
      select task_id from usage_ledger
      where not rolled_up and (select is_open from gate)
        and (basis <> 'assumed' and (outcome <> 'cancelled' or submits = 0) or completed_at < now() - interval '2 minutes')
      order by completed_at limit ${ROLL_UP_ROWS} for update skip locked
    ), l as (
      update usage_ledger u set rolled_up = true from taken where u.task_id = taken.task_id returning u.*
    ), all_pairs as materialized (
      select l.*, m.key, m.value, (l.completed_at at time zone 'utc')::date as on_day, md5(m.value)::uuid as hash,
             md5(m.key)::uuid as name_hash
      from l cross join lateral jsonb_each_text(l.metadata) m
    ), fresh_names as materialized (${freshIn('all_pairs', `''::text`, 'name_hash')}
    ), pairs as materialized (
      select * from all_pairs
      where (api_key_id, on_day, name_hash) not in (
        select api_key_id, on_day, hash from fresh_names where known + nth > ${MOST_NAMES})
    ), fresh as materialized (${freshIn('pairs', 'key', 'hash')}
    ), named as (
      insert into usage_values (day, api_key_id, metadata_key, value_hash)
      select on_day, api_key_id, key, hash from fresh where known + nth <= ${MOST_VALUES}
      union all
      select on_day, api_key_id, key, hash from fresh_names where known + nth <= ${MOST_NAMES}
      on conflict do nothing
    ), entries as (
      select l.api_key_id, s.span, '' as metadata_key, date_bin(s.width, l.completed_at, ${EPOCH}) as starts_at,
             ${LEDGER_DIMENSIONS}, null::text as metadata_value,
             ${NUMBER_NAMES.map((name) => `${NUMBERS[name]} as ${name}`).join(', ')}
      from l cross join (values ('quarter', interval '15 minutes'), ('day', interval '1 day')) s(span, width)
      union all
      select l.api_key_id, 'quarter', l.key, date_bin(interval '15 minutes', l.completed_at, ${EPOCH}),
             ${LEDGER_DIMENSIONS},
             case when (l.api_key_id, l.key, l.on_day, l.hash) in (
               select api_key_id, key, on_day, hash from fresh where known + nth > ${MOST_VALUES}
             ) then '${OTHER_VALUES}' else l.value end,
             ${NUMBER_NAMES.map((name) => NUMBERS[name]).join(', ')}
      from pairs l
    ), added as (
      insert into usage_sums (api_key_id, span, metadata_key, starts_at, dimensions, ${DIMENSIONS.join(', ')}, metadata_value,
                              ${NUMBER_LIST})
      select api_key_id, span, metadata_key, starts_at,
             md5(row(${DIMENSIONS.join(', ')}, metadata_value)::text)::uuid, ${DIMENSIONS.join(', ')}, metadata_value, ${SUMMED}
      from entries
      group by api_key_id, span, metadata_key, starts_at, ${DIMENSIONS.join(', ')}, metadata_value
      on conflict (api_key_id, span, metadata_key, starts_at, dimensions) do update set ${ADDED}
    )
    select count(*)::int as rows from l`,
};

/**
 * How many days `usage_values` keeps a row. A task is usually added to the sums within minutes of its end. Only after a
 * long outage of the database could a task be older when it is added.
 */
const VALUE_DAYS = 7;
/** The most rows that one round deletes from a table. */
export const PURGE_ROWS = 5_000;

const PURGE_LEDGER: Statement = {
  name: 'usage.purge_ledger',
  text: `
    with due as (
      select task_id from usage_ledger where completed_at < now() - make_interval(secs => $1) and rolled_up
      order by completed_at limit ${PURGE_ROWS} for update skip locked
    )
    delete from usage_ledger l using due where l.task_id = due.task_id returning 1`,
};

/**
 * Deletes up to the beginning of a UTC day, so that the sum of a day and those of its quarters are deleted together.
 */
const PURGE_SUMS: Statement = {
  name: 'usage.purge_sums',
  text: `
    delete from usage_sums where ctid = any(array(
      select ctid from usage_sums
      where starts_at < date_bin(interval '1 day', now() - make_interval(secs => $1), ${EPOCH})
      limit ${PURGE_ROWS} for update skip locked)) returning 1`,
};

const PURGE_VALUES: Statement = {
  name: 'usage.purge_values',
  text: `
    delete from usage_values where ctid = any(array(
      select ctid from usage_values where day < (now() at time zone 'utc')::date - ${VALUE_DAYS}
      limit ${PURGE_ROWS} for update skip locked)) returning 1`,
};

/** Raw SQL because each statement works on up to thousands of rows at once. */
@Injectable()
export class RollUp {
  constructor(private readonly sql: Sql) {}

  /** @returns how many rows of the ledger were added */
  async next(): Promise<number> {
    const [row] = await this.sql.run<{ rows: number }>(ROLL_UP);
    return row?.rows ?? 0;
  }

  /** @returns how many rows were deleted from the table that lost the most */
  async purge(retentionS: number): Promise<number> {
    const ledger = await this.sql.run(PURGE_LEDGER, [retentionS]);
    const sums = await this.sql.run(PURGE_SUMS, [retentionS]);
    const values = await this.sql.run(PURGE_VALUES);
    return Math.max(ledger.length, sums.length, values.length);
  }
}
