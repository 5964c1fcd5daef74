import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { firstEndOf, isKept, type Stars } from '../record/stars.ts';
import { SHOWN_COLUMNS, type ShownTask } from '../record/task.entity.ts';

/**
 * The expiry of what is kept: so far away that no statement that compares the expiry needs to know of stars. It is not
 * `infinity`, which is no date in JavaScript.
 */
const KEPT_UNTIL = `'9999-12-31T00:00:00Z'::timestamptz`;

/** For at least this many hours a task or output stays after it has lost its star. */
export const GIVEN_UP_H = 24;

/**
 * SQL: sets the expiry in a column to KEPT_UNTIL while something is kept. Afterwards restores the old expiry, at least
 * GIVEN_UP_H ahead.
 */
const putOff = (column: string, isKeptNow: string): string => `
      ${column} = case
        when ${isKeptNow} then ${KEPT_UNTIL}
        when unkept_${column} is not null then greatest(unkept_${column}, now() + interval '${GIVEN_UP_H} hours')
        else ${column} end,
      unkept_${column} = case when ${isKeptNow} then coalesce(unkept_${column}, ${column}) end`;

/**
 * A visible change of a final task: an output is deleted, or gets or loses a star. Two changes may come at the same
 * time, so the statement names the sequence that was read. A deleted task counts as expired, so it is not changed.
 */
export const REPLACE_RESULT: Statement = {
  name: 'tasks.replace_result',
  text: `
    update tasks_done set
      result = $3::json, sequence = sequence + 1, collection = $4, output_expires_at = to_timestamp($5::float8),
      kept_at = case when $6::boolean then coalesce(kept_at, now()) end,
      ${putOff('expires_at', '$6::boolean')},
      ${putOff('files_expire_at', '$7::boolean')}
    where id = $1 and sequence = $2 and expires_at > now()
    returning ${SHOWN_COLUMNS}`,
};

/** The parameters of `REPLACE_RESULT`. */
export const valuesOf = (id: string, sequence: number, { result, kept, collection }: Stars): unknown[] => [
  id,
  sequence,
  result && JSON.stringify(result),
  collection,
  firstEndOf(result),
  kept,
  result?.some(isKept) ?? false,
];

@Injectable()
export class ReplaceResult {
  constructor(private readonly sql: Sql) {}

  /** @returns null when the task has changed or expired since it was read */
  async replace({ id, sequence }: ShownTask, stars: Stars): Promise<ShownTask | null> {
    const rows = await this.sql.run<ShownTask>(REPLACE_RESULT, valuesOf(id, sequence, stars));
    return rows[0] ?? null;
  }
}
