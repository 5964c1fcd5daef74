import { makeTestFolder, removeAbandonedFolders, TEST_FOLDER } from './test-context.ts';

/** Only makes the folder. Its database starts with the first `cloneDatabase()`, so unit tests do not pay for one. */
export default async function globalSetup(): Promise<void> {
  await removeAbandonedFolders();
  process.env[TEST_FOLDER] = makeTestFolder();
}
