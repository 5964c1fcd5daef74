import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** The most tasks of each priority that are read. The position of a task further back is unknown. */
export const KNOWN_POSITIONS = 10_000;

/** The first waiting tasks of one priority, in the order in which they are claimed. */
export interface LaneRead {
  ids: string[];
  /** The column `place` of the same tasks. */
  places: number[];
}

export interface LineRead {
  normal: LaneRead;
  low: LaneRead;
  /** Seconds since the creation of the oldest task that was read; 0 if none was read. */
  ageS: number;
  /** Unix seconds, by the database's clock. */
  nowS: number;
}

/**
 * SQL: the first waiting tasks of one priority. The limit is hidden from the planner. If the planner knew the limit and
 * took the table for small, it would read and sort all waiting tasks (100,000 tasks: 150 ms). With an unknown limit it
 * expects a few rows, and reads the index in order.
 */
const lane = (condition: string): string => `
      select id, place, created_at from tasks_live where waits and ${condition}
      order by place, id limit (select ${KNOWN_POSITIONS})`;

/** SQL: each column of all rows in one text, because reading 10,000 rows takes five times as long. */
const columns = (name: string): string => `
           (select string_agg(id, ' ' order by place, id) from ${name}) as ${name}_ids,
           (select string_agg(place::text, ' ' order by place, id) from ${name}) as ${name}_places`;

const READ: Statement = {
  name: 'tasks.read_line',
  text: `
    with normal as materialized (${lane('not low')}
    ), low as materialized (${lane('low')}
    )
    select ${columns('normal')}, ${columns('low')}, extract(epoch from now())::float8 as now_s,
           coalesce(extract(epoch from now() - least((select min(created_at) from normal), (select min(created_at) from low))), 0)::float8 as age_s`,
};

interface Row {
  normal_ids: string | null;
  normal_places: string | null;
  low_ids: string | null;
  low_places: string | null;
  age_s: number;
  now_s: number;
}

/** Raw SQL because of the aggregates. */
@Injectable()
export class ReadLine {
  constructor(private readonly sql: Sql) {}

  async read(): Promise<LineRead> {
    const [row] = await this.sql.run<Row>(READ);
    const { normal_ids, normal_places, low_ids, low_places, age_s: ageS, now_s: nowS } = row!;
    return { normal: laneOf(normal_ids, normal_places), low: laneOf(low_ids, low_places), ageS, nowS };
  }
}

const laneOf = (ids: string | null, places: string | null): LaneRead => ({
  ids: ids?.split(' ') ?? [],
  places: places?.split(' ').map(Number) ?? [],
});
