import { removeTestFolder, TEST_FOLDER } from './test-context.ts';

export default async function globalTeardown(): Promise<void> {
  const folder = process.env[TEST_FOLDER];
  if (folder) await removeTestFolder(folder);
}
