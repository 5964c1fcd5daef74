import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { type InputImage, ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { pause } from '../wire/pause.ts';
import { type PollOptions, pollOptions, readWithRetry } from '../jobs/poll.ts';
import { networkCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { type UpstreamCall, upstreamFetch, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { uploadRefused, uploadUnanswered } from './comfy-errors.ts';
import { history, type HistoryEntry, historyEntry, idsIn, queue, upload } from './comfy-wire.ts';

const POLL_MS = { image: 2_000, video: 5_000 } as const;

/** The folder of this service among the server's inputs. */
const UPLOAD_FOLDER = 'darkroom';

const EXTENSIONS = { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp' } as const;

/** The most reads after an interrupt, 200 ms apart, to confirm that the run has stopped. */
const CONFIRM_READS = 5;
const CONFIRM_MS = 200;

/** The time limit of a lookup. It is short, because a lookup takes a slot of the worker. A poll takes none. */
const LOOKUP_TIMEOUT_MS = 10_000;

/** ComfyUI has no credentials of its own, but a proxy in front of it may require one. */
export function headersOf({ upstream }: ProviderRequest): Record<string, string> {
  return upstream.apiKey === null ? {} : { authorization: `Bearer ${upstream.apiKey}` };
}

export function comfyFetch(request: ProviderRequest, path: string, call: UpstreamCall): Promise<UpstreamReply> {
  return upstreamFetch(request.upstream.baseUrl + path, { ...call, headers: headersOf(request) });
}

export const comfyPollOptions = (request: ProviderRequest, signal: AbortSignal): PollOptions =>
  pollOptions('comfyui', request, POLL_MS[request.kind], signal);

/** @returns null if the run has not ended, or the server has no record of it */
export async function readHistory(
  request: ProviderRequest,
  id: string,
  signal: AbortSignal,
): Promise<HistoryEntry | null> {
  const entry = parseReply(history, await getJson(request, `/history/${id}`, signal))[id];
  return typeof entry === 'object' && entry !== null ? parseReply(historyEntry, entry) : null;
}

/** Whether the server is running the run or has it in its queue; null if neither. */
export async function readQueue(
  request: ProviderRequest,
  id: string,
  signal: AbortSignal,
): Promise<'running' | 'pending' | null> {
  const { queue_running: running, queue_pending: pending } = parseReply(
    queue,
    await getJson(request, '/queue', signal),
  );
  if (idsIn(running).includes(id)) return 'running';
  return idsIn(pending).includes(id) ? 'pending' : null;
}

/**
 * Whether the server has the run in its queue or its history. A run that leaves the queue is in the history at the same
 * moment, so the queue is read first.
 * @throws ProviderError provider_unavailable when the server cannot be reached; provider_rejected or internal_error
 *   when it refuses the reads
 */
export async function isKnown(request: ProviderRequest, id: string, signal: AbortSignal): Promise<boolean> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)]);
  try {
    return (await readQueue(request, id, bounded)) !== null || (await readHistory(request, id, bounded)) !== null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError) throw error;
    throw new ProviderError('provider_unavailable', { billing: 'unknown', cause: networkCause('comfyui', error) });
  }
}

/**
 * As `isKnown`, but true if the server cannot be read. The caller then polls the run, and submits it again if the polls
 * do not find it.
 */
export async function isSubmitted(request: ProviderRequest, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    return await isKnown(request, id, signal);
  } catch {
    signal.throwIfAborted();
    return true;
  }
}

/**
 * Uploads an image under the hash of its content, so the server stores each image once.
 * @returns its name for a LoadImage node
 * @throws ProviderError, not billed, because an upload is free
 */
export async function uploadImage(request: ProviderRequest, image: InputImage, signal: AbortSignal): Promise<string> {
  const content = createHash('sha256');
  await pipeline(createReadStream(image.path), content);
  const hash = content.digest('hex').slice(0, 32);
  const form = new FormData();
  const type = image.contentType;
  form.append('image', await openAsBlob(image.path, { type }), `${hash}.${EXTENSIONS[type]}`);
  form.append('type', 'input');
  form.append('subfolder', UPLOAD_FOLDER);
  const reply = await comfyFetch(request, '/upload/image', { method: 'POST', form, signal }).catch((error: unknown) => {
    throw uploadUnanswered(error);
  });
  const { name, subfolder } = parseReply(upload, reply.json);
  if (reply.status >= 300 || name === undefined) throw uploadRefused(request, reply);
  return subfolder ? `${subfolder}/${name}` : name;
}

/**
 * Newer servers have one call to cancel a run. On older ones the run is deleted from the queue and, if it is already
 * running, interrupted by its id. An interrupt without an id would stop whichever run is active.
 */
export async function cancelRun(request: ProviderRequest, id: string, signal: AbortSignal): Promise<void> {
  const post = (path: string, json: object) => comfyFetch(request, path, { method: 'POST', json, signal });
  const { status } = await post(`/api/jobs/${id}/cancel`, {});
  if (status < 300) return;
  await post('/queue', { delete: [id] });
  if ((await readQueue(request, id, signal)) !== 'running') return;
  await post('/interrupt', { prompt_id: id });
  for (let read = 1; read <= CONFIRM_READS; read++) {
    if ((await readHistory(request, id, signal)) !== null) return;
    await pause(CONFIRM_MS, signal);
  }
}

async function getJson(request: ProviderRequest, path: string, signal: AbortSignal): Promise<unknown> {
  const read = () => comfyFetch(request, path, { signal });
  return (await readWithRetry(read, comfyPollOptions(request, signal))).json;
}
