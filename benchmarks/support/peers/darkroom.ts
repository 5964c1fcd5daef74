import { readFileSync } from 'node:fs';
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { Peer } from './peer.ts';
import { type Program, type Running, start, stop } from './program.ts';

const MAIN = new URL('../../../dist/main.js', import.meta.url).pathname;
const API_KEYS = new URL('../../../dist/auth/credentials/api-key-format.js', import.meta.url).href;

/**
 * Darkroom as `npm start` runs it, on its embedded PostgreSQL with durable commits. The differences: the limits for
 * each key are off, and webhooks may go to this machine.
 * @param folder an empty one, which other users may enter, because under root the database runs as another user
 */
export async function darkroom(folder: string, upstreamUrl: string): Promise<Peer> {
  const { newApiKey } = (await import(API_KEYS)) as { newApiKey(): string };
  const apiKey = newApiKey();
  const dataDir = join(folder, 'data');
  const files = join(dataDir, 'files');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // The service runs on a copy of Node: a copy shares no pages with the processes of the benchmark, so its PSS is that
  // of a service alone on its machine.
  const node = join(folder, 'node');
  await mkdir(dataDir);
  await copyFile(process.execPath, node);
  const program: Program = {
    command: node,
    args: [MAIN],
    cwd: folder,
    readyUrl: `${url}/readyz`,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      PORT: String(port),
      DATA_DIR: dataDir,
      BOOTSTRAP_API_KEY: apiKey,
      OPENAI_API_KEY: 'none',
      OPENAI_BASE_URL: upstreamUrl,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
      OUTBOUND_ALLOW_HTTP: 'true',
      RATE_CREATE_PER_MIN: '0',
      RATE_READ_PER_MIN: '0',
      MAX_QUEUED_PER_KEY: '0',
      MAX_RUNNING_PER_KEY: '0',
    },
  };
  let running: Running | undefined;
  return {
    name: 'Darkroom',
    url,
    apiKey,
    async start() {
      running = await start(program);
      return running.startMs;
    },
    async stop() {
      if (running) await stop(running.child);
    },
    pid: () => running!.child.pid!,
    databasePid: () => Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8')),
    async clear() {
      const tasks = (await readdir(files)).filter((entry) => entry.startsWith('task_'));
      await Promise.all(tasks.map((entry) => rm(join(files, entry), { recursive: true })));
    },
  };
}
