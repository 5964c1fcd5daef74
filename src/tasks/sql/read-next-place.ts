import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { placeOf } from './line.ts';

/** Where a task would wait if it were created now. */
export interface NextPlace {
  priority: number;
  /** Its API key has as many running tasks as it may have. */
  is_held: boolean;
}

/** $1 the API key, $2 whether the task is of low priority, $3 the weight and $4 the bound of the key. */
const READ: Statement = {
  name: 'tasks.read_next_place',
  text: `
    select ${placeOf('$2::boolean', 'case when $2 then lows else unfinished - lows end + 1', '$3::int')} as priority,
           $4::int > 0 and running >= $4 as is_held
    from (
      select coalesce(l.running, 0) as running, coalesce(l.queued + l.running, 0) as unfinished,
             coalesce(least(l.low, l.queued + l.running), 0) as lows
      from (select $1::text as api_key_id) k left join key_load l using (api_key_id)
    ) k`,
};

/** Raw SQL because the place is computed as by the statements that create tasks. */
@Injectable()
export class ReadNextPlace {
  constructor(private readonly sql: Sql) {}

  async read({ apiKeyId, limits }: Caller, isLow: boolean): Promise<NextPlace> {
    const [place] = await this.sql.run<NextPlace>(READ, [apiKeyId, isLow, limits.weight, limits.maxRunning]);
    return place!;
  }
}
