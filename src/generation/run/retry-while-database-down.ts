import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../../errors/database-away.ts';

const RETRY_MS = 500;

/**
 * Retries a write that must not be lost in a database outage, because a paid call was made or the work is done. Retrying
 * for long does no harm: every write is fenced by its claim.
 * @param stillWanted checked before each retry
 * @throws the error of the write, when it is no longer wanted or the error is not an outage
 */
export async function retryWhileDatabaseDown<Result>(
  stillWanted: () => boolean,
  write: () => Promise<Result>,
): Promise<Result> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!isDatabaseAway(error) || !stillWanted()) throw error;
      await sleep(RETRY_MS);
    }
  }
}
