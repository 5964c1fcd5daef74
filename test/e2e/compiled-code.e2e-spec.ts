import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { MAIN, spawnService } from '../support/process.ts';
import { testEnv } from '../support/test-env.ts';
import { eventually } from '../support/wait.ts';

/** Longer than a process waits before it keeps code. */
const KEEPS_WITHIN_MS = 3_000;

describe('the code that V8 compiled for a start', () => {
  // Beside the bundle, because the program looks for files of the clone from there.
  const bundle = mkdtempSync(`${dirname(MAIN)}-`);
  const compiled = join(bundle, 'compiled');
  let database: TestDatabase;
  let env: Record<string, string>;

  beforeAll(async () => {
    cpSync(dirname(MAIN), bundle, { recursive: true, filter: (path) => !path.endsWith('/compiled') });
    database = await cloneDatabase();
    ({ env } = await testEnv(database.url));
  });
  afterAll(async () => {
    rmSync(bundle, { recursive: true, force: true });
    await database?.drop();
  });

  const start = () => spawnService(env, join(bundle, 'main.js'));
  const largest = (): string => {
    // A file that is being written ends with the id of its process.
    const names = readdirSync(compiled).filter((name) => name.endsWith('.cjs'));
    const files = names.map((name) => join(compiled, name));
    return files.toSorted((a, b) => statSync(b).size - statSync(a).size)[0] ?? compiled;
  };
  const stateOf = (path: string) => statSync(path, { bigint: true }).mtimeNs;

  it('is kept, used by the next start, and compiled again if its file is damaged', async () => {
    const first = await start();
    // The entry point is kept first, and the largest file may be the last.
    await eventually('the code to be kept', async () => existsSync(compiled) && statSync(largest()).size > 2_000_000);
    await first.kill('SIGTERM');

    const kept = stateOf(largest());
    const second = await start();
    await sleep(KEEPS_WITHIN_MS);
    await second.kill('SIGTERM');
    expect(stateOf(largest())).toBe(kept);

    const file = largest();
    const damaged = readFileSync(file).fill(0, 100_000, 200_000);
    writeFileSync(file, damaged);
    const third = await start();
    await eventually('the code to be kept again', async () => !readFileSync(file).equals(damaged));
    await third.kill('SIGTERM');
  });
});
