import { Writable } from 'node:stream';
import type { Client } from 'pg';
import { withBulkClient } from '../../platform/database/copy/bulk-client.ts';
import { passRows, readRows } from '../../platform/database/copy/copy-rows.ts';
import {
  assertEmpty,
  lockTables,
  readMigrations,
  readTables,
  type StoredTable,
  truncateTables,
} from '../../platform/database/copy/tables.ts';
import { withTransaction } from '../../platform/database/copy/transactions.ts';
import { migrate, migrateTo } from '../../platform/database/migrate.ts';
import { assertOwnSessions } from '../../platform/database/session-check.ts';
import { assertNotAhead } from './not-ahead.ts';
import { untilStopped } from './stopped-service.ts';

export interface MoveOptions {
  /** The maximum time in seconds to wait until every process of the service has stopped. */
  waitS: number;
  tell: (line: string) => void;
}

export interface MovedTable {
  name: string;
  rows: number;
  /** In hex; the same in both databases. */
  sha256: string;
}

/**
 * Copies every table into an empty database, and compares the rows of both databases. The old rows stay as they are.
 * Runs newer migrations after the copy is committed.
 * @throws Error for the operator. The target then has no rows, unless such a migration failed
 */
export async function moveDatabase(from: string, to: string, { waitS, tell }: MoveOptions): Promise<MovedTable[]> {
  await assertOwnSessions(to, 'The address of --to');
  const moved = await withBulkClient(from, (source) =>
    withBulkClient(to, async (target) => {
      const migrations = await readMigrations(source);
      if (migrations.length === 0) throw new Error('The database is empty: there is nothing to move.');
      await assertEmpty(target);
      assertNotAhead(await readMigrations(target), migrations);
      await untilStopped(source, waitS, tell);
      await migrateTo(to, migrations);
      return withTransaction(source, () => withTransaction(target, () => copyTables(source, target)));
    }),
  );
  await migrate(to);
  return moved;
}

async function copyTables(source: Client, target: Client): Promise<MovedTable[]> {
  const tables = await readTables(source);
  await lockTables(source, tables, 'exclusive'); // a row that a process writes later would be missing from the copy
  const ordered = await readTables(target);
  await truncateTables(target, ordered);
  const moved: MovedTable[] = [];
  for (const { name } of ordered) {
    const table = tables.find((each) => each.name === name);
    if (table) moved.push(await copyTable(source, target, table));
  }
  if (moved.length < tables.length) throw new Error('The databases do not have the same tables.');
  return moved;
}

async function copyTable(source: Client, target: Client, table: StoredTable): Promise<MovedTable> {
  const { name } = table;
  const sent = await passRows(source, target, table);
  const { rows, sha256 } = await readRows(target, table, discarding());
  if (rows !== sent.rows || sha256 !== sent.sha256) {
    throw new Error(`The table ${name} differs after the copy: ${sent.rows} rows were sent, ${rows} arrived.`);
  }
  return { name, rows, sha256 };
}

const discarding = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
