import type { QueryRunner } from 'typeorm';

/** An arbitrary fixed number that no other lock of this database has ("move" in ASCII). */
const LOCK = 0x6d6f7665;

/**
 * Waits for what a killed process has left, as for a locked table: PostgreSQL ends the step that its connection runs,
 * and lets this lock of the connection go only then.
 */
export async function alone(runner: QueryRunner, move: () => Promise<void>): Promise<void> {
  await runner.query(`select pg_advisory_lock(${LOCK})`);
  try {
    await move();
  } finally {
    await runner.query(`select pg_advisory_unlock(${LOCK})`).catch(() => undefined); // a lost connection has no lock
  }
}

/** One message, which is one transaction. */
export async function together(runner: QueryRunner, statements: readonly string[]): Promise<void> {
  await runner.query(statements.join(';\n'));
}

/** True where the statements are only recorded. */
export async function isFound(runner: QueryRunner, text: string): Promise<boolean> {
  const rows = (await runner.query(text)) as object[] | undefined;
  return rows === undefined || rows.length > 0;
}
