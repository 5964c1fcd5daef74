import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { withExclusiveFile } from '../../../src/platform/database/embedded/exclusive-file.ts';
import { Api } from '../../support/clients/api.ts';
import { cloneDatabase } from '../../support/database.ts';
import { MAIN } from '../../support/process.ts';
import { sharedPidFile, TEST_FOLDER } from '../../support/test-context.ts';
import { testEnv } from '../../support/test-env.ts';
import { eventually } from '../../support/wait.ts';

/** A service for every test file that needs no settings, database or lifetime of its own. */
export interface SharedService {
  /** Uses a key of this test file alone, which has all scopes: it sees no task and no endpoint of another file. */
  api: Api;
  keyId: string;
  baseUrl: string;
  databaseUrl: string;
}

interface Started {
  baseUrl: string;
  databaseUrl: string;
  key: string;
}

/** The first caller may wait for the database of the run too. */
const START_MS = 120_000;
/** More than the tests of all files let hang at once. */
const PLACES = '1000';
const SCOPES = [
  'generations:write',
  'tasks:read',
  'tasks:cancel',
  'webhooks:manage',
  'keys:manage',
  'operations:read',
  'operations:manage',
];

/** Joins the service of the run, which the first caller starts. A start takes four seconds of processor time. */
export async function joinShared(): Promise<SharedService> {
  const { baseUrl, databaseUrl, key } = await started();
  const name = basename(expect.getState().testPath ?? 'a test file');
  const { status, body, text } = await new Api(baseUrl, key).call<{ id: string; key: string }>('POST', '/v1/api_keys', {
    name,
    scopes: SCOPES,
  });
  if (status !== 201) throw new Error(`No key for ${name}: ${text}`);
  return { api: new Api(baseUrl, body.key), keyId: body.id, baseUrl, databaseUrl };
}

async function started(): Promise<Started> {
  const run = process.env[TEST_FOLDER];
  if (!run) throw new Error('jest.config.js must name test/support/global-setup.ts as its globalSetup.');
  const file = join(run, 'shared-service.json');
  const known = () => JSON.parse(readFileSync(file, 'utf8')) as Started;
  if (existsSync(file)) return known();
  return withExclusiveFile(join(run, 'shared-service.lock'), START_MS, async () => {
    if (existsSync(file)) return known();
    const service = await start(run);
    writeFileSync(file, JSON.stringify(service), { mode: 0o600 });
    return service;
  });
}

/** Starts it apart from this process, which may end before the last test file. The end of the run ends it. */
async function start(run: string): Promise<Started> {
  const { url } = await cloneDatabase();
  const dataDir = join(run, 'shared-data');
  mkdirSync(dataDir);
  const { env } = await testEnv(url, {
    DATA_DIR: dataDir,
    WORKER_CONCURRENCY: PLACES,
    WEBHOOK_RETRY_SCHEDULE: '600,600',
  });
  const output = join(run, 'shared-service.log');
  const log = openSync(output, 'a');
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    cwd: dataDir,
    detached: true,
    stdio: ['ignore', log, log],
  });
  child.unref();
  writeFileSync(sharedPidFile(run), String(child.pid));
  await eventually(
    'the shared service to start',
    async () => {
      const text = readFileSync(output, 'utf8');
      if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}:\n${text}`);
      return text.includes('Darkroom is ready');
    },
    START_MS,
  );
  return { baseUrl: env.PUBLIC_URL as string, databaseUrl: url, key: env.BOOTSTRAP_API_KEY as string };
}
