import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../../platform/database/sql.ts';

const LAST: Statement = {
  name: 'operations.last_migration',
  text: 'select name from schema_migrations order by id desc limit 1',
};

/** Raw SQL because the table is TypeORM's own. */
@Injectable()
export class ReadMigrations {
  constructor(private readonly sql: Sql) {}

  /** The last migration of the database. A newer release may have made it, so this release may not know it. */
  async last(): Promise<string> {
    const [row] = await this.sql.run<{ name: string }>(LAST);
    return row!.name;
  }
}
