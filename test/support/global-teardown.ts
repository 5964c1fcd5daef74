import { removeGround, TEST_GROUND } from './test-context.ts';

export default async function globalTeardown(): Promise<void> {
  const ground = process.env[TEST_GROUND];
  if (ground) await removeGround(ground);
}
