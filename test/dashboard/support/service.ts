import { rm } from 'node:fs/promises';
import { testEnv } from '../../support/test-env.ts';
import type { Api } from '../../support/clients/api.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { spawnService } from '../../support/process.ts';

export interface BuiltService {
  /** Uses the bootstrap key, which has all scopes. */
  api: Api;
  baseUrl: string;
  database: TestDatabase;
  /** The environment it was started with, for a second process beside it. */
  env: Record<string, string>;
  /** What it has written so far. */
  output(): string;
  close(): Promise<void>;
}

/** The built program with a database of its own. Loading the sources into Jest takes several times the processor time. */
export async function startBuilt(settings: Record<string, string> = {}): Promise<BuiltService> {
  const database = await cloneDatabase();
  const { env, dataDir } = await testEnv(database.url, settings);
  const cleanUp = async () => {
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const service = await spawnService(env).catch(async (error: unknown) => {
    await cleanUp();
    throw error;
  });
  return {
    api: service.api,
    baseUrl: env.PUBLIC_URL as string,
    database,
    env,
    output: service.output,
    close: async () => {
      await service.kill('SIGTERM');
      await cleanUp();
    },
  };
}
