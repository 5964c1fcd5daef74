import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** The most dead rows that the table may have before it is vacuumed. More dead rows make claims noticeably slower. */
const MOST_DEAD = 10_000;

const IS_DUE: Statement = {
  name: 'tasks.is_vacuum_due',
  text: `select from pg_stat_user_tables where relid = 'tasks_live'::regclass and n_dead_tup > ${MOST_DEAD}`,
};

/** Does nothing if another process vacuums the table. */
const VACUUM: Statement = { name: 'tasks.vacuum_queue', text: 'vacuum (skip_locked) tasks_live' };

/** Raw SQL because TypeORM knows no vacuum. */
@Injectable()
export class VacuumQueue {
  constructor(private readonly sql: Sql) {}

  async vacuum(): Promise<void> {
    if ((await this.sql.run(IS_DUE)).length > 0) await this.sql.run(VACUUM);
  }
}
