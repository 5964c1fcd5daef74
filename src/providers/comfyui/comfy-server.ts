import { createHash } from 'node:crypto';
import { File } from 'node:buffer';
import { FormData } from 'undici';
import { type InputImage, ProviderError, type ProviderRequest } from '../provider.ts';
import { networkCause } from '../wire/operator-cause.ts';
import { pause } from '../jobs/pause.ts';
import { type PollOptions, readWithRetry } from '../jobs/poll.ts';
import { type UpstreamCall, upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { uploadRefused, uploadUnanswered } from './comfy-errors.ts';
import type { HistoryEntry } from './history.ts';

const POLL_MS = { image: 2_000, video: 5_000 } as const;

/** A folder of ours among the server's inputs. */
const UPLOAD_FOLDER = 'darkroom';

const EXTENSIONS = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' } as const;

/** After an interrupt, at most so many looks 200 ms apart whether the run has stopped. */
const CONFIRM_LOOKS = 5;
const CONFIRM_MS = 200;

/** ComfyUI itself knows no credential; a proxy in front of it may. */
export function headersOf({ upstream }: ProviderRequest): Record<string, string> {
  return upstream.apiKey === null ? {} : { authorization: `Bearer ${upstream.apiKey}` };
}

export function comfyFetch(request: ProviderRequest, path: string, call: UpstreamCall): Promise<UpstreamReply> {
  return upstreamFetch(request.upstream.baseUrl + path, { ...call, headers: headersOf(request) });
}

export function comfyPatience({ kind, upstream }: ProviderRequest, signal: AbortSignal): PollOptions {
  const intervalMs = upstream.pollIntervalMs ?? POLL_MS[kind];
  return { provider: 'comfyui', secret: upstream.apiKey, intervalMs, signal };
}

/** @returns null while the run is not over, and of one the server does not know */
export async function readHistory(
  request: ProviderRequest,
  id: string,
  signal: AbortSignal,
): Promise<HistoryEntry | null> {
  const look = () => comfyFetch(request, `/history/${id}`, { signal });
  const { json } = await readWithRetry(look, comfyPatience(request, signal));
  const entry = (json as Record<string, unknown>)[id];
  return typeof entry === 'object' && entry !== null ? (entry as HistoryEntry) : null;
}

/** Whether the server is at work on a run, or will be. */
export async function readQueue(
  request: ProviderRequest,
  id: string,
  signal: AbortSignal,
): Promise<'running' | 'pending' | null> {
  const look = () => comfyFetch(request, '/queue', { signal });
  const { json } = await readWithRetry(look, comfyPatience(request, signal));
  const { queue_running: running, queue_pending: pending } = json as Record<string, unknown>;
  // An item is [number, prompt id, workflow, …].
  const holds = (items: unknown) =>
    Array.isArray(items) && items.some((item: unknown) => (item as unknown[])?.[1] === id);
  return holds(running) ? 'running' : holds(pending) ? 'pending' : null;
}

/** The queue first: a run that leaves it is in the history at that very moment, so none slips through between. */
export async function isKnown(request: ProviderRequest, id: string, signal: AbortSignal): Promise<boolean> {
  return (await readQueue(request, id, signal)) !== null || (await readHistory(request, id, signal)) !== null;
}

/** Not for ever: while the server is away, other tasks wait for this worker. */
const LOOKUP_TIMEOUT_MS = 60_000;

/**
 * `isKnown` after a submission that got no answer.
 * @throws ProviderError provider_outcome_unknown when the server does not tell
 */
export async function isSubmitted(request: ProviderRequest, id: string, signal: AbortSignal): Promise<boolean> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)]);
  try {
    return await isKnown(request, id, bounded);
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof ProviderError ? error.cause : networkCause('comfyui', error);
    throw new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
  }
}

/**
 * Named by its content, so the server keeps one file of each picture however often it is sent.
 * @returns what a LoadImage node calls it
 * @throws ProviderError; nothing is spent by an upload
 */
export async function uploadImage(request: ProviderRequest, image: InputImage, signal: AbortSignal): Promise<string> {
  const name = createHash('sha256').update(image.bytes).digest('hex').slice(0, 32);
  const form = new FormData();
  const type = image.contentType;
  form.append('image', new File([new Uint8Array(image.bytes)], `${name}.${EXTENSIONS[type]}`, { type }));
  form.append('type', 'input');
  form.append('subfolder', UPLOAD_FOLDER);
  const reply = await comfyFetch(request, '/upload/image', { method: 'POST', body: form, signal }).catch(
    (error: unknown) => {
      throw uploadUnanswered(error);
    },
  );
  const { name: stored, subfolder } = (reply.json ?? {}) as Record<string, unknown>;
  if (reply.status >= 300 || typeof stored !== 'string') throw uploadRefused(request, reply);
  return typeof subfolder === 'string' && subfolder !== '' ? `${subfolder}/${stored}` : stored;
}

/**
 * Newer servers have one call for it. For older ones: out of the queue, and if it runs already, stopped by name; a call
 * without a name would stop whatever runs.
 */
export async function cancelRun(request: ProviderRequest, id: string, signal: AbortSignal): Promise<void> {
  const post = (path: string, json: object) => comfyFetch(request, path, { method: 'POST', json, signal });
  const { status } = await post(`/api/jobs/${id}/cancel`, {});
  if (status < 300) return;
  await post('/queue', { delete: [id] });
  if ((await readQueue(request, id, signal)) !== 'running') return;
  await post('/interrupt', { prompt_id: id });
  for (let look = 1; look <= CONFIRM_LOOKS; look++) {
    if ((await readHistory(request, id, signal)) !== null) return;
    await pause(CONFIRM_MS, signal);
  }
}
