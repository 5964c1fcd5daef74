import { Servers } from '../../platform/database/servers/servers.ts';
import { readWordsState } from '../sql/task-words.ts';

/**
 * Tells an operator up to which time the index of words covers prompts. A search works without the index.
 * @param url the URL of a migrated database
 */
export async function wordReport(url: string): Promise<string> {
  const client = await new Servers(url).connect({ application_name: 'darkroom:check', connectionTimeoutMillis: 5_000 });
  try {
    const { missing, has_index: hasIndex, through } = await readWordsState(client);
    if (missing.length > 0)
      return `not indexed yet: the extensions ${missing.join(' and ')} are missing; a worker makes them where its role may`;
    return hasIndex ? `indexed are tasks that ended until ${through} UTC` : 'not indexed yet: a worker does it';
  } finally {
    await client.end();
  }
}
