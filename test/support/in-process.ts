import 'reflect-metadata';
import { rm } from 'node:fs/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadCheckedConfig } from '../../src/checked-config.ts';
import { startService } from '../../src/service.ts';
import { Api } from './clients/api.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { testEnv } from './test-env.ts';

export interface InProcess {
  app: NestFastifyApplication;
  database: TestDatabase;
  /** Uses the bootstrap key, which has all scopes. */
  api: Api;
  baseUrl: string;
  /** The environment it was started with, for a second process beside it. */
  env: Record<string, string>;
  /** The API key made at the first start, if BOOTSTRAP_API_KEY is empty; null at later starts. */
  firstKey: string | null;
  /** Signs a browser in with that key, once. */
  signInLink: string | null;
  close(): Promise<void>;
}

/**
 * The whole service in this process, for a test that looks into it or holds up a part of it. It takes three seconds of processor
 * time more than `startOwnService`, because Jest compiles and loads the sources.
 * @param settings environment variables that matter to the test
 * @param shared the database of another process, which then stays; without it the service gets a new one
 */
export async function startInProcess(settings: Record<string, string> = {}, shared?: TestDatabase): Promise<InProcess> {
  const database = shared ?? (await cloneDatabase());
  const { env, dataDir } = await testEnv(database.url, settings);
  const cleanUp = async () => {
    if (!shared) await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
  const service = await loadCheckedConfig(env)
    .then((config) => startService(config))
    .catch(async (error: unknown) => {
      await cleanUp().catch(() => undefined); // a failed start may keep connections open; the run removes the database later
      throw error;
    });
  return {
    app: service.app,
    database,
    api: new Api(env.PUBLIC_URL as string, env.BOOTSTRAP_API_KEY as string),
    baseUrl: env.PUBLIC_URL as string,
    env,
    firstKey: service.firstKey?.key ?? null,
    signInLink: service.firstKey?.signInLink ?? null,
    close: async () => {
      await service.stop();
      await cleanUp();
    },
  };
}
