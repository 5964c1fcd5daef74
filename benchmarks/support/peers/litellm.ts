import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { Peer } from './peer.ts';
import { type Program, type Running, start, stop } from './program.ts';

const API_KEY = 'sk-benchmark';

/**
 * LiteLLM's proxy with one worker, no database and no cache.
 * @param folder an empty one
 * @param venv a Python environment with `litellm[proxy]`
 */
export async function liteLlm(folder: string, upstreamUrl: string, venv: string): Promise<Peer> {
  await mkdir(folder, { recursive: true });
  const config = join(folder, 'config.yaml');
  const params = { model: 'openai/gpt-image-2', api_base: upstreamUrl, api_key: 'none' };
  // JSON is YAML too.
  await writeFile(
    config,
    JSON.stringify({
      model_list: [{ model_name: 'gpt-image-2', litellm_params: params }],
      general_settings: { master_key: API_KEY },
    }),
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program: Program = {
    command: join(venv, 'bin/litellm'),
    args: ['--config', config, '--host', '127.0.0.1', '--port', String(port)],
    cwd: folder,
    readyUrl: `${url}/health/readiness`,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      LITELLM_LOCAL_MODEL_COST_MAP: 'True', // else it is fetched at each start
      LITELLM_TELEMETRY: 'False',
    },
  };
  let running: Running | undefined;
  return {
    name: 'LiteLLM',
    url,
    apiKey: API_KEY,
    async start() {
      running = await start(program);
      return running.startMs;
    },
    async stop() {
      if (running) await stop(running.child);
    },
    pid: () => running!.child.pid!,
    databasePid: () => null,
    clear: async () => undefined,
  };
}

/** The version of the package, and of its Python. */
export const liteLlmVersion = (venv: string): string =>
  execFileSync(join(venv, 'bin/python'), ['-c', VERSIONS], { encoding: 'utf8' }).trim();

const VERSIONS =
  'import importlib.metadata, platform; print(importlib.metadata.version("litellm"), "on Python", platform.python_version())';
