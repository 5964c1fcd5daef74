import { setTimeout as sleep } from 'node:timers/promises';
import { isDatabaseAway } from '../../errors/database-away.ts';

/** Between the tries while the database is away. */
const RETRY_MS = 500;

/**
 * Writes something of a run that must not be lost because the database is away for a moment: a paid call has been made, or
 * the work is done. The claim fences a late word, so trying for long does no harm.
 * @param stillWanted asked before each further try
 * @throws what the write throws, once it is no longer wanted or the database is not to blame
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
