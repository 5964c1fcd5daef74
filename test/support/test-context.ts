import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** The environment variable naming the folder of this test run. */
export const TEST_GROUND = 'DARKROOM_TEST_GROUND';
/** Followed by the process id of the maker. */
const PREFIX = 'darkroom-test-';

/** A folder for a data directory named `data`. Open to pass through, because as root the database is another user's. */
export function makeGround(): string {
  const ground = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  chmodSync(ground, 0o711);
  return ground;
}

/** Stops the database in it at once (nothing in it is kept) and removes its folder. */
export async function removeGround(ground: string): Promise<void> {
  const pid = postmasterPid(ground);
  if (pid && signal(pid, 'SIGQUIT')) {
    for (let waited = 0; waited < 100 && signal(pid, 0); waited++) await sleep(50);
  }
  rmSync(ground, { recursive: true, force: true, maxRetries: 3 });
}

/** A run that was killed leaves its database running; the next run clears it away. */
export async function removeAbandonedGrounds(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(PREFIX))) {
    const run = Number.parseInt(name.slice(PREFIX.length));
    if (run > 0 && signal(run, 0)) continue;
    await removeGround(join(tmpdir(), name)).catch(() => undefined); // another user's
  }
}

function postmasterPid(ground: string): number | null {
  try {
    return Number(readFileSync(join(ground, 'data/postgres/postmaster.pid'), 'utf8').split('\n')[0]) || null;
  } catch {
    return null;
  }
}

/** @returns whether the process exists and is ours to signal */
function signal(pid: number, name: 'SIGQUIT' | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}
