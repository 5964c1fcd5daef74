import { makeTestFolder, removeAbandonedFolders, TEST_FOLDER } from './test-context.ts';

/** Only makes the folder. The database starts with the first `cloneDatabase()`, so that unit tests do not start one. */
export default async function globalSetup(): Promise<void> {
  await removeAbandonedFolders();
  process.env[TEST_FOLDER] = makeTestFolder();
}
