import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

/** Key of the advisory lock: an arbitrary fixed number that no other lock of this database has ("move" in ASCII). */
const LOCK = 0x6d6f7665;

/**
 * Runs `move` under a lock of the session. When a migrating process is killed, PostgreSQL first completes the step that
 * its connection runs, and only then releases this lock. So the next process waits for the end of that step, as it
 * waits for a locked table.
 */
export async function alone(runner: QueryRunner, move: () => Promise<void>): Promise<void> {
  await runner.query(`select pg_advisory_lock(${LOCK})`);
  try {
    await move();
  } finally {
    await runner.query(`select pg_advisory_unlock(${LOCK})`).catch(() => undefined); // a lost connection has no lock
  }
}

/** Sends the statements in one message, which PostgreSQL runs as one transaction. */
export async function together(runner: QueryRunner, statements: readonly string[]): Promise<void> {
  await runner.query(statements.join(';\n'));
}

/**
 * Whether the query `text` returns a row. True for the runner of `npm run lint`, which records statements without
 * running them.
 */
export async function isFound(runner: QueryRunner, text: string): Promise<boolean> {
  const rows = (await runner.query(text)) as object[] | undefined;
  return rows === undefined || rows.length > 0;
}

/** Seconds after which a process that was not seen is taken to have stopped. */
const LOST_AFTER_S = 15;
const WAIT_S = 2 * LOST_AFTER_S;
const LIVE = `select id from processes where last_seen_at > now() - interval '${LOST_AFTER_S} seconds' limit 1`;

/**
 * Waits until no process of an earlier version runs. A process that was killed looks alive for some seconds.
 * @throws Error for the operator if a process still runs after `WAIT_S`
 */
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
