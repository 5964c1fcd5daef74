// The sandbox alone, called as a worker calls it: a message is a request, the reply is the seconds it took.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Provider, ProviderRequest } from '../../src/providers/contract/provider.ts';

const path = '../../dist/providers/sandbox/sandbox.provider.js';
const { SandboxProvider } = (await import(new URL(path, import.meta.url).href)) as {
  SandboxProvider: new () => Provider;
};
const sandbox = new SandboxProvider();

process.on('message', async (request: ProviderRequest) => {
  const scratchDir = await mkdtemp(join(tmpdir(), 'darkroom-bench-'));
  const startedAt = performance.now();
  await sandbox.prepare(request).generate({
    upstreamId: null,
    submittedBefore: false,
    scratchDir,
    signal: new AbortController().signal,
    partialImages: 0,
    progress: () => undefined,
    tokens: () => undefined,
    partialImage: () => undefined,
    submitting: async () => undefined,
    callingAgain: async () => undefined,
    fewer: () => undefined,
    submitted: async () => undefined,
    resubmitting: async () => undefined,
    releaseImages: async () => undefined,
    polling: (work) => work(),
  });
  const seconds = (performance.now() - startedAt) / 1000;
  await rm(scratchDir, { recursive: true });
  process.send?.(seconds);
});
process.send?.('ready');
