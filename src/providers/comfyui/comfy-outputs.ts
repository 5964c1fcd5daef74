import { extname, join } from 'node:path';
import { ProviderError, type ProviderOutput, type ProviderRequest, type Run } from '../contract/provider.ts';
import { DOWNLOAD_TRIES } from '../jobs/run-jobs.ts';
import { download, MAX_RESULT_BYTES } from '../wire/download.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { comfyPollOptions, headersOf } from './comfy-server.ts';
import type { HistoryEntry } from './comfy-wire.ts';
import { outputFiles } from './history.ts';

interface Wanted {
  run: Run;
  /** The index of this run among the runs of the request. */
  index: number;
  expected: number;
  signal: AbortSignal;
}

/**
 * Downloads the files that a run has saved.
 * @throws ProviderError internal_error when their number is not `expected`; the errors of `download`
 */
export async function downloadOutputs(
  request: ProviderRequest,
  entry: HistoryEntry,
  { run, index, expected, signal }: Wanted,
): Promise<ProviderOutput[]> {
  const { kind, upstream } = request;
  const files = outputFiles(entry, kind);
  if (files.length !== expected) {
    const message = `the workflow saved ${files.length} files of kind ${kind}, not ${expected}`;
    throw new ProviderError('internal_error', { cause: operatorCause('comfyui', null, { code: 'outputs', message }) });
  }
  const outputs: ProviderOutput[] = [];
  for (const [at, file] of files.entries()) {
    const output = await download({
      provider: 'comfyui',
      url: `${upstream.baseUrl}/view?${new URLSearchParams({ ...file })}`,
      path: join(run.scratchDir, `${index}-${at}${extname(file.filename).toLowerCase()}`),
      maxBytes: MAX_RESULT_BYTES[kind],
      baseUrl: upstream.baseUrl,
      headers: headersOf(request),
      retryMs: comfyPollOptions(request, signal).intervalMs,
      tries: DOWNLOAD_TRIES,
      signal,
    });
    outputs.push(output);
  }
  return outputs;
}
