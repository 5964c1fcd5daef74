// Only the sandbox, called as a worker calls it. A message is a request; the reply is the seconds that it took.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Provider, ProviderRequest, Run } from '../../src/providers/contract/provider.ts';

const built = (path: string) => import(new URL(`../../dist/providers/${path}`, import.meta.url).href);
const { SandboxProvider } = (await built('sandbox/sandbox.provider.js')) as { SandboxProvider: new () => Provider };
const { runAlone } = (await built('contract/run-alone.js')) as { runAlone: (scratchDir: string) => Run };
const sandbox = new SandboxProvider();

process.on('message', async (request: ProviderRequest) => {
  const scratchDir = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
  const startedAt = performance.now();
  await sandbox.prepare(request).generate(runAlone(scratchDir));
  const seconds = (performance.now() - startedAt) / 1000;
  await rm(scratchDir, { recursive: true });
  process.send?.(seconds);
});
process.send?.('ready');
