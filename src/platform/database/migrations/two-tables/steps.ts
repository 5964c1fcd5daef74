import { setTimeout as sleep } from 'node:timers/promises';
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

/** Seconds after which a process that was not seen is taken to have stopped. */
const LOST_AFTER_S = 15;
const WAIT_S = 2 * LOST_AFTER_S;
const LIVE = `select id from processes where last_seen_at > now() - interval '${LOST_AFTER_S} seconds' limit 1`;

/** A process that was killed looks alive for some seconds, so the start after it waits. */
export async function untilStopped(runner: QueryRunner): Promise<void> {
  for (let waitedS = 0; ; waitedS += 1) {
    const [live] = ((await runner.query(LIVE)) as { id: string }[] | undefined) ?? [];
    if (!live) return;
    if (waitedS >= WAIT_S) {
      throw new Error(
        `The process ${live.id} of the version before still runs. Stop all of them, then start this version: it moves the tasks into other tables.`,
      );
    }
    await sleep(1_000);
  }
}
