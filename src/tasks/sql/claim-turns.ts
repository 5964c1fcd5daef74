/** The parts of a claim that give turns to tasks of low priority. */
export interface Turns {
  taken: string;
  fewer: string;
  ready: string;
}

export const NO_TURNS: Turns = {
  taken: '',
  fewer: '',
  ready: `select *, 0 as turn from lapsed union all select *, row_number() over () from waiting`,
};

/**
 * At most $7 turns. $8 and $9 are what `LowTurns` calls `gathered` and `share`; from them follows after how many others
 * each turn comes. Rows are numbered in the order in which the CTEs return them, without sorting them again.
 */
export function turnsOf(low: string): Turns {
  return {
    taken: `turns as (
      select id, api_key_id, counts_for, status, held, model from tasks_live
      where ${low}
      order by low, place, id limit least($7::int, $1 - (select count(*) from lapsed)) for update skip locked
    ),`,
    fewer: '- (select count(*) from turns)',
    ready: `select *, 0::float8 as turn from lapsed
      union all
      select *, ceil(((100 - $9::int) * row_number() over () - $8::int) / $9::float8) + 0.5 from turns
      union all
      select *, (row_number() over ())::float8 from waiting`,
  };
}
