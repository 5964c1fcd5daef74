import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.ts';
import { eventually } from '../../../support/wait.ts';
import { findTool } from '../tools.ts';

export const CONFIGURATION = new URL('../../../../deploy/haproxy/haproxy.cfg', import.meta.url).pathname;

/** HAProxy with the configuration that the project ships, but for its own port and the addresses of the processes. */
export async function startHaproxy(servers: string[]): Promise<{ url: string; stop(): Promise<void> }> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-haproxy-'));
  const lines = servers.map((url, nth) => `  server api${nth} ${new URL(url).host}`).join('\n');
  const text = replaceOnce(readFileSync(CONFIGURATION, 'utf8'), /^ {2}bind .*$/m, `  bind 127.0.0.1:${port}`);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, replaceOnce(text, /^ {2}server-template .*$/m, lines));
  const child: ChildProcess = spawn(findTool('haproxy')!, ['-f', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => (output += part.toString()));
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${port}`;
  await eventually('HAProxy to find a process that serves', async () => {
    if (child.exitCode !== null) throw new Error(output);
    return (await fetch(`${url}/openapi.json`).catch(() => null))?.status === 200;
  });
  return {
    url,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function replaceOnce(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`${CONFIGURATION} has no line ${pattern}`);
  return text.replace(pattern, by);
}
