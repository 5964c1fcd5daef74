import { makeGround, removeAbandonedGrounds, TEST_GROUND } from './test-context.ts';

/** Only makes the folder: the database in it starts with the first `cloneDatabase()`, so unit tests alone pay nothing. */
export default async function globalSetup(): Promise<void> {
  await removeAbandonedGrounds();
  process.env[TEST_GROUND] = makeGround();
}
