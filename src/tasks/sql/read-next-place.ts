import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { startOf } from './admission.ts';

/** Where a task would wait if it were created now. */
export interface NextPlace {
  place: number;
  /** Whether its API key has as many running tasks as it may have. */
  is_held: boolean;
}

/** $1 is the API key, $2 whether the task is of low priority, $3 the key's limit of running tasks. */
const READ: Statement = {
  name: 'tasks.read_next_place',
  text: `
    select (case when $2::boolean then ${startOf('low_place')} else ${startOf('place')} end)::float8 as place,
           $3::int > 0 and coalesce(l.running - l.held, 0) >= $3 as is_held
    from line n left join key_load l on l.api_key_id = $1 where n.id`,
};

/** Raw SQL because it uses the SQL by which creations compute the place. */
@Injectable()
export class ReadNextPlace {
  constructor(private readonly sql: Sql) {}

  async read({ apiKeyId, limits }: Caller, isLow: boolean): Promise<NextPlace> {
    const [place] = await this.sql.run<NextPlace>(READ, [apiKeyId, isLow, limits.maxRunning]);
    return place!;
  }
}
