import { Servers } from '../../platform/database/servers/servers.ts';
import { timeOfId } from '../../platform/schema/time.ts';
import { missingExtensions, readWordIndexes, usable } from '../sql/word-indexes.ts';

/**
 * For an operator: which prompts are found by an index of words. A search works without.
 * @param url of a migrated database
 */
export async function wordReport(url: string): Promise<string> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:check', connectionTimeoutMillis: 5_000 });
  try {
    const missing = await missingExtensions(client);
    if (missing.length > 0)
      return `not indexed yet: the extensions ${missing.join(' and ')} are missing; a worker makes them where its role may`;
    const partitions = await readWordIndexes(client);
    const ended = partitions.filter(({ to }) => timeOfId(to) < Date.now());
    const waiting = ended.filter(({ isValid }) => !isValid).length;
    const stretches = partitions.filter(({ isValid }) => !isValid).reduce((sum, each) => sum + usable(each).length, 0);
    return `indexed in ${ended.length - waiting} of ${ended.length} partitions that get no new tasks, and in ${stretches} stretches of others`;
  } finally {
    await client.end();
  }
}
