import { spawnSync } from 'node:child_process';
import { cloneDatabase } from '../support/database.ts';

/**
 * Files that run for one warm request. Whoever raises one says why in the commit. The last two have some room, because the worker and
 * the request share the process, so a few files run at every trip or not.
 */
const MOST: Record<string, number> = {
  post: 45,
  'keyed post': 46,
  get: 30,
  list: 29,
  'graphql task': 35,
  'graphql tasks': 36,
  cancel: 43,
  'create a key': 34,
  models: 24,
  'upload a picture': 39,
  'task to its end': 109,
  'the same with a webhook': 128,
};

it('runs each request through no more files than before', async () => {
  const database = await cloneDatabase();
  const { stdout, stderr, status } = spawnSync(process.execPath, ['scripts/trips.ts', '--json'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, DATABASE_URL: database.url },
  });
  await database.drop();
  if (status !== 0) throw new Error(stderr);
  const trips = Object.entries(JSON.parse(stdout) as Record<string, string[]>);
  expect(trips.map(([name]) => name)).toEqual(Object.keys(MOST));
  for (const [name, files] of trips) {
    expect(files.length).toBeGreaterThan(MOST[name]! / 2); // or the count is broken
    if (files.length > MOST[name]!) throw new Error(`${name}: ${files.length} files\n${files.join('\n')}`);
  }
});
