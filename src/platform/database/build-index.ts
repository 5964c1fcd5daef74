import type { QueryRunner } from 'typeorm';

const IS_VALID = (index: string): string =>
  `select from pg_index where indexrelid = to_regclass('${index}') and indisvalid`;

/**
 * Builds an index while the service runs, unless a valid one exists. The migration must not run in a transaction. It
 * can be repeated: an interrupted build leaves an invalid index, which is built again. A build waits for every open
 * transaction, so its lock timeout is 30 s.
 * @param text `create index concurrently …`
 */
export async function buildIndex(runner: QueryRunner, name: string, text: string): Promise<void> {
  if (await isFound(runner, IS_VALID(name))) return;
  await withLongLocks(runner, async () => {
    await runner.query(`drop index concurrently if exists ${name}`);
    await runner.query(text);
  });
}

/** Drops an index while the service runs, if the index exists. */
export const dropIndex = (runner: QueryRunner, name: string): Promise<void> =>
  withLongLocks(runner, () => runner.query(`drop index concurrently if exists ${name}`));

async function withLongLocks(runner: QueryRunner, work: () => Promise<void>): Promise<void> {
  await runner.query(`set lock_timeout = '30s'`);
  try {
    await work();
  } finally {
    await runner.query('reset lock_timeout').catch(() => undefined); // must not hide the error of a broken connection
  }
}

/**
 * Whether the query `text` returns a row. False for the runner of `npm run lint`, which records statements without
 * running them.
 */
export async function isFound(runner: QueryRunner, text: string): Promise<boolean> {
  const rows = (await runner.query(text)) as object[] | undefined;
  return rows !== undefined && rows.length > 0;
}
