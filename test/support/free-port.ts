import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * The lowest and highest port. They are below the ports that Linux gives to outgoing connections and to `listen(0)`,
 * either of which could take a free port before its user does.
 */
const LOWEST = 10_000;
const HIGHEST = 32_000;

const ATTEMPTS = 100;

const given = new Set<number>();

/** A port of 127.0.0.1 on which nothing listens, and which this process has not returned before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST);
    if (!given.has(port) && (await isFree(port))) {
      given.add(port);
      return port;
    }
  }
  throw new Error(`No free port in ${ATTEMPTS} attempts.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening'); // rejects on an error event
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
