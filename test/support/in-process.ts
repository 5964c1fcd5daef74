import 'reflect-metadata';
import { rm } from 'node:fs/promises';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { loadCheckedConfig } from '../../src/checked-config.ts';
import { startService } from '../../src/start-service.ts';
import { Api } from './clients/api.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { testEnv } from './test-env.ts';

export interface InProcess {
  app: NestFastifyApplication;
  database: TestDatabase;
  /** A client with the bootstrap key, which has all scopes. */
  api: Api;
  baseUrl: string;
  /** The environment of the service, for a second process beside it. */
  env: Record<string, string>;
  /** The API key that the first start creates if BOOTSTRAP_API_KEY is empty; null at later starts. */
  firstKey: string | null;
  /** A link that signs a browser in with that key, once. */
  signInLink: string | null;
  close(): Promise<void>;
}

/**
 * Starts the whole service in this process, for a test that inspects or blocks a part of it. It takes three more
 * seconds of processor time than `startOwnService`, because Jest compiles and loads the sources.
 * @param settings environment variables that matter to the test
 * @param shared the database of another process, which is not removed; by default the service gets a new one
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
      await cleanUp().catch(() => undefined); // after a failed start connections may be open; the run removes the database later
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
