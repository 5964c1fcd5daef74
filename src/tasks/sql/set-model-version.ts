import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { LeaseRef } from '../record/lease.ts';

const SET: Statement = {
  name: 'tasks.set_model_version',
  text: `
    update tasks_live t set model_version = $3, sequence = t.sequence + 1
    where t.id = $1 and t.attempt = $2 and t.status = 'running'
    returning t.id`,
};

/**
 * Raw SQL because the statement checks `attempt`: only the worker that holds the task may say under which version it
 * runs.
 */
@Injectable()
export class SetModelVersion {
  constructor(private readonly sql: Sql) {}

  /** @returns false when the claim no longer holds the task */
  async set({ id, attempt }: LeaseRef, version: string): Promise<boolean> {
    return (await this.sql.run(SET, [id, attempt, version])).length === 1;
  }
}
