import { makeTestFolder, removeAbandonedFolders, TEST_FOLDER } from './test-context.ts';

/**
 * Only makes the folder. All other temporary files lie in it, so that a run leaves none. The database starts with the
 * first `cloneDatabase()`, so that unit tests do not start one.
 */
export default async function globalSetup(): Promise<void> {
  await removeAbandonedFolders();
  process.env[TEST_FOLDER] = makeTestFolder();
  process.env.TMPDIR = process.env[TEST_FOLDER];
}
