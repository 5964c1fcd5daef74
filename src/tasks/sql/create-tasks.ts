import { Injectable } from '@nestjs/common';
import type { ApiError } from '../../errors/api-error.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { BatchByKey, type LockWait } from './batch-by-key.ts';
import { type ColumnTypes, rowsOfArrays, toArrays } from './column-arrays.ts';
import { BATCHING, COLUMNS, INSERT, INSERT_RESERVED, type NewTask, placed } from './new-task.ts';
import {
  COUNTED,
  COUNTED_COLUMNS,
  insertOpened,
  LOAD,
  MOVED_PLACES,
  OpenKeyCounters,
  REFUSAL,
  type RefusalRow,
  type Refusals,
  refusalError,
  refusalsOf,
} from './open-key-counters.ts';
import { BUDGET, decided, ESTIMATE_COLUMN, MADE_COLUMNS, RESERVED, SPENT_BUDGET } from './reserve-budget.ts';

/**
 * Inserts tasks and updates the counters of their keys in one statement, thus one commit, for many requests at once.
 * Returns every task that it did not insert, with the reason. Creates that have an idempotency key have another
 * statement. Sharing this one would cost PostgreSQL a seventh more time (52 us a row instead of 45, at 32 rows).
 * `width_bucket` counts the low tasks up to the last one admitted.
 */
const CREATE: Statement = {
  name: 'tasks.create',
  text: `
    with ${LOAD}, wanted as not materialized (
      ${rowsOfArrays(COLUMNS, 3)}
    ), counted as (
      update key_load l set queued = l.queued + o.admitted, max_running = o.max_running,
             low = o.lows + width_bucket(o.admitted, o.low_numbers), ${MOVED_PLACES}
      from load o where l.api_key_id = o.api_key_id
    ), made as (${INSERT}
      where nth <= admitted
    )
    select id, ${REFUSAL} as refusal
    from wanted left join load using (key) where admitted is null or nth > admitted`,
};

const RESERVED_COLUMNS = { ...COLUMNS, ...ESTIMATE_COLUMN };

/** The same for tasks of API keys with a budget, which it reserves. */
const CREATE_RESERVED: Statement = {
  name: 'tasks.create_reserved',
  text: `
    with recursive ${LOAD}, wanted as (
      ${rowsOfArrays(RESERVED_COLUMNS, 3)}
    ), ${BUDGET}, ${decided('false')}, made as (${INSERT_RESERVED}
      where id in (select id from decided where refusal is null)
      returning ${COUNTED_COLUMNS}, ${MADE_COLUMNS}
    ), ${COUNTED}, ${RESERVED}
    select w.id, coalesce(d.refusal, 'no_counters') as refusal,
           case when d.refusal = 'budget_exceeded' then ${SPENT_BUDGET} end as budget
    from wanted w left join decided d using (id) left join budget on budget.api_key_id = d.api_key_id
    where d.id is null or d.refusal is not null`,
};

/** Stores tasks that came without an idempotency key. */
@Injectable()
export class CreateTasks {
  private readonly batch = this.batchOf(CREATE, COLUMNS);
  /** Apart, so that budgets cost nothing to the keys that have none. */
  private readonly reserved = this.batchOf(CREATE_RESERVED, RESERVED_COLUMNS);

  constructor(
    private readonly sql: Sql,
    private readonly counters: OpenKeyCounters,
  ) {}

  /** @throws ApiError queue_full, budget_exceeded, service_unavailable */
  create(task: NewTask): Promise<undefined> {
    return (task.estimate_micros === undefined ? this.batch : this.reserved).add(task);
  }

  private batchOf(statement: Statement, columns: ColumnTypes): BatchByKey<NewTask, undefined> {
    return new BatchByKey((tasks, wait) => this.flush(statement, columns, tasks, wait), {
      ...BATCHING,
      name: statement.name,
    });
  }

  private async flush(
    statement: Statement,
    columns: ColumnTypes,
    tasks: NewTask[],
    wait: LockWait,
  ): Promise<(ApiError | undefined)[]> {
    const insert = async (opened: NewTask[]): Promise<Refusals> => {
      const { rows, keys } = placed(opened);
      return refusalsOf(
        await this.sql.run<RefusalRow>(statement, [JSON.stringify(keys), wait, ...toArrays(columns, rows)]),
      );
    };
    const refusals = await insertOpened(this.counters, tasks, insert);
    return tasks.map((task) => {
      const refusal = refusals.get(task.id);
      return refusal && refusalError(task, refusal);
    });
  }
}
