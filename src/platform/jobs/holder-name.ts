import type { Pool, PoolClient } from 'pg';

const RETRY_MS = 1000;

/**
 * Keeps a connection of this name open, from which other processes see that the holder of certain jobs is alive
 * (stray-jobs.ts). The listening connection would not do: a runner that stops closes it while its last jobs still run.
 * @returns ends it
 */
export function holdName(pool: Pool, name: string): () => void {
  let over = false;
  let held: PoolClient | undefined;

  const hold = () =>
    pool.connect((error, client) => {
      if (over) return client?.release();
      if (error || !client) {
        setTimeout(() => over || hold(), RETRY_MS).unref();
        return;
      }
      held = client;
      client.once('error', (broken: Error) => {
        if (over) return;
        held = undefined;
        client.release(broken);
        hold();
      });
      void setName(client, name);
    });

  hold();
  return () => {
    over = true;
    held?.release(true);
  };
}

async function setName(client: PoolClient, name: string): Promise<void> {
  try {
    await client.query("select set_config('application_name', $1, false)", [name]);
  } catch {
    // The connection broke, which its `error` event answers.
  }
}
