import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Api } from './clients/api.ts';
import { cloneDatabase, type TestDatabase } from './database.ts';
import { MAIN, spawnService } from './process.ts';
import { sharedPidFile, TEST_FOLDER } from './test-context.ts';
import { programEnv, testEnv, withPatience } from './test-env.ts';
import { eventually } from './wait.ts';

/** A running service, as tests use it. */
export interface TestService {
  /** A client with a key that has all scopes. */
  api: Api;
  baseUrl: string;
  database: Pick<TestDatabase, 'url'>;
  /** The environment of the service, for a second process beside it. */
  env: Record<string, string>;
  close(): Promise<void>;
}

/** A service that only one test file uses. */
export interface OwnService extends TestService {
  database: TestDatabase;
  /** What the service has written so far to stdout and stderr. */
  output(): string;
  /** The API key that the first start creates if BOOTSTRAP_API_KEY is empty; null at later starts. */
  firstKey: string | null;
  /** A link that signs a browser in with that key, once. */
  signInLink: string | null;
}

/** The service that all test files of a Jest worker share. */
export interface SharedService extends TestService {
  /** The id of the API key of this test file. */
  keyId: string;
}

/** More tasks than the tests of one file leave running at one time. */
const CONCURRENCY = '200';
const SETTINGS = { WORKER_CONCURRENCY: CONCURRENCY, TASK_SWEEP_S: '0.3' };
const ALL_SCOPES = [
  'generations:write',
  'tasks:read',
  'tasks:cancel',
  'webhooks:manage',
  'keys:manage',
  'operations:read',
  'operations:manage',
];

/**
 * Starts the built program for one test file that needs settings, a database or a lifetime of its own.
 * @param settings environment variables that matter to the test
 * @param shared the database of another process, which is not removed; by default the service gets a new one
 */
export async function startOwnService(
  settings: Record<string, string> = {},
  shared?: Pick<TestDatabase, 'url'>,
): Promise<OwnService> {
  const own = shared ? null : await cloneDatabase();
  const database = { url: (shared ?? own)!.url, drop: async () => own?.drop() };
  const { env, dataDir } = await testEnv(withPatience(database.url), settings);
  const cleanUp = async () => {
    await database.drop();
    if (settings.DATA_DIR === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  const service = await spawnService(env).catch(async (error: unknown) => {
    await cleanUp();
    throw error;
  });
  const printed = (pattern: RegExp): string | null => pattern.exec(service.output())?.[1] ?? null;
  return {
    api: service.api,
    baseUrl: env.PUBLIC_URL as string,
    database,
    env,
    output: service.output,
    firstKey: printed(/API key +(dr_\w+)/),
    signInLink: printed(/dashboard +(http\S+#code=\S+)/),
    close: async () => {
      await service.kill('SIGTERM');
      await cleanUp();
    },
  };
}

/**
 * Joins the service of this Jest worker, which the first test file starts. The file gets a key of its own, which cannot
 * see tasks and endpoints of other files. `close` cancels the tasks that the file has left unfinished.
 */
export async function joinService(): Promise<SharedService> {
  const { env, databaseUrl } = await started();
  const baseUrl = env.PUBLIC_URL as string;
  const name = basename(expect.getState().testPath ?? 'a test file');
  const { status, body, text } = await new Api(baseUrl, env.BOOTSTRAP_API_KEY!).call<{ id: string; key: string }>(
    'POST',
    '/v1/api_keys',
    { name, scopes: ALL_SCOPES },
  );
  if (status !== 201) throw new Error(`No key for ${name}: ${text}`);
  const api = new Api(baseUrl, body.key);
  const close = async () => {
    await api.call('POST', '/v1/tasks/cancel', { filter: { created_after: 0 } });
  };
  return { api, keyId: body.id, baseUrl, database: { url: databaseUrl }, env, close };
}

/**
 * Joins a second process of this Jest worker's deployment. It has no workers; the first test file that needs it starts
 * it.
 * @returns the address of the process; the keys are those of `service`
 */
export async function joinSecondProcess(service: SharedService): Promise<string> {
  const { env } = await startedOnce('second-process', async () => {
    const { PORT: _port, PUBLIC_URL: _url, ...settings } = service.env;
    return (await testEnv(service.database.url, { ...settings, ROLE: 'api' })).env;
  });
  return env.PUBLIC_URL as string;
}

interface Started {
  env: Record<string, string>;
  databaseUrl: string;
}

function started(): Promise<Started> {
  return startedOnce('service', async (dataDir) => {
    mkdirSync(dataDir, { recursive: true }); // it exists already if a start failed: the next file then says why
    return (await testEnv(withPatience((await cloneDatabase()).url), { DATA_DIR: dataDir, ...SETTINGS })).env;
  });
}

/**
 * Starts the program once for each Jest worker. The program is independent of this process, which may end before the
 * last test file of the worker. The end of the run ends the program.
 * @param envOf gets the path of a folder, which it may create
 */
async function startedOnce(
  name: string,
  envOf: (dataDir: string) => Promise<Record<string, string>>,
): Promise<Started> {
  const run = process.env[TEST_FOLDER];
  if (!run) throw new Error('jest.config.js must name test/support/global-setup.ts as its globalSetup.');
  const worker = `worker-${process.env.JEST_WORKER_ID}-${name}`;
  const file = join(run, `${worker}.json`);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Started;
  const env = await envOf(join(run, worker));
  const output = join(run, `${worker}.log`);
  const log = openSync(output, 'a');
  const child = spawn(process.execPath, [MAIN], {
    env: { ...programEnv(), ...env },
    cwd: env.DATA_DIR,
    detached: true,
    stdio: ['ignore', log, log],
  });
  child.unref();
  writeFileSync(sharedPidFile(run, worker), String(child.pid));
  await eventually(`the ${name} of the worker to start`, async () => {
    const text = readFileSync(output, 'utf8');
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}:\n${text}`);
    return text.includes('Darkroom is ready');
  });
  const service: Started = { env, databaseUrl: env.DATABASE_URL as string };
  writeFileSync(file, JSON.stringify(service), { mode: 0o600 });
  return service;
}
