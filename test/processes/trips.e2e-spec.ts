import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cloneDatabase } from '../support/database.ts';

/**
 * How many files run for one warm request. A commit that raises a bound says why. Files that ran while the service was
 * idle are left out. A file of background work, such as `platform/database/sql.ts`, runs there or not, so each bound is
 * one above the count. The last two are higher: the worker shares the process, and some of its files run only now and
 * then.
 */
const MOST: Record<string, number> = {
  post: 46,
  'keyed post': 47,
  get: 28,
  list: 30,
  'graphql task': 38,
  'graphql tasks': 44,
  cancel: 41,
  'create a key': 38,
  models: 31,
  'upload a picture': 39,
  'task to its end': 104,
  'the same with a webhook': 120,
};

/** Each in a process of its own, because most of the time is waits. */
const HALVES = ['requests', 'tasks'];

async function count(half: string): Promise<[string, string[]][]> {
  const database = await cloneDatabase();
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/trips.ts', `--json=${half}`], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: database.url },
  });
  await database.drop();
  return Object.entries(JSON.parse(stdout) as Record<string, string[]>);
}

it('runs each request through no more files than before', async () => {
  const trips = (await Promise.all(HALVES.map(count))).flat();
  expect(trips.map(([name]) => name)).toEqual(Object.keys(MOST));
  for (const [name, files] of trips) {
    expect(files.length).toBeGreaterThan(MOST[name]! / 2); // or the count is broken
    if (files.length > MOST[name]!) throw new Error(`${name}: ${files.length} files\n${files.join('\n')}`);
  }
});
