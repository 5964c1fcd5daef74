import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { seedOf } from '../contract/seed.ts';
import { readWithRetry } from '../jobs/poll.ts';
import { networkCause, operatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { arkPollOptions, callArk } from './ark-call.ts';
import { arkList, arkTask, type ArkTask } from './ark-wire.ts';

const PAGE_SIZE = 100;

/**
 * 20 pages list 2,000 tasks of the account. If more were created since the lost call, the search ends without a result.
 */
const MAX_PAGES = 20;

/** The most tasks that one search reads one by one. A task needs a read of its own if the list omits its seed. */
const MAX_READS = 50;

/** The most by which this clock and Ark's may differ. */
const SKEW_MS = 300_000;

/**
 * The time limit of one read in a lookup, with its retries. A lookup takes a slot of a worker; the wait between two
 * lookups does not.
 */
const LOOKUP_TIMEOUT_MS = 30_000;

/**
 * Finds the task whose create call got no answer, by its seed. The seed derives from the id of the task in this
 * service, and Ark returns no other value that was sent. For each task created since, the chance of a wrong match is
 * one in two thousand million.
 * @param sinceMs unix milliseconds; the task was not created before this time
 * @returns null when the list was read to its end, or back to that time, and the task is certainly not in it
 * @throws ProviderError provider_outcome_unknown when the list does not show whether the task exists,
 *   provider_unavailable when the list cannot be read; the reason of the signal
 */
export async function findTask(request: ProviderRequest, sinceMs: number, signal: AbortSignal): Promise<string | null> {
  // A seed that the client has chosen does not identify the task: other tasks may have the same seed.
  if (request.input.seed !== undefined) throw unknown(request, 'the seed is not derived from the task');
  const seed = seedOf(request.taskId);
  const isRecent = ({ created_at: at }: ArkTask) => at === undefined || at * 1000 >= sinceMs - SKEW_MS;
  let reads = 0;
  for (let page = 1, seen = 0; page <= MAX_PAGES; page++) {
    const { items, total } = await list(request, page, signal);
    if (!items || total === undefined) throw unknown(request, 'the reply is not a list');
    const recent = items.filter(isRecent);
    for (const { id, seed: listed } of recent) {
      if (id === undefined) continue;
      if (listed === undefined && ++reads > MAX_READS) throw unknown(request, 'too many tasks to read one by one');
      if ((listed ?? (await read(request, id, signal)).seed) === seed) return id;
    }
    seen += items.length;
    if (items.length === 0 || seen >= total) return null;
    // The newest tasks come first. If Ark changes that order, the search continues to its limit.
    if (recent.length === 0 && isNewestFirst(items)) return null;
  }
  throw unknown(request, 'the list is too long');
}

async function list(request: ProviderRequest, page: number, signal: AbortSignal) {
  return parseReply(arkList, await get(request, `?page_num=${page}&page_size=${PAGE_SIZE}`, signal));
}

async function read(request: ProviderRequest, id: string, signal: AbortSignal): Promise<ArkTask> {
  return parseReply(arkTask, await get(request, `/${encodeURIComponent(id)}`, signal));
}

/** @returns the JSON of the answer */
async function get(request: ProviderRequest, path: string, signal: AbortSignal): Promise<unknown> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)]);
  const call = () => callArk(request, path, { signal: bounded });
  try {
    return (await readWithRetry(call, arkPollOptions(request, bounded))).json;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError)
      throw new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause: error.cause });
    throw new ProviderError('provider_unavailable', { billing: 'unknown', cause: networkCause('ark', error) });
  }
}

function unknown({ upstream }: ProviderRequest, message: string): ProviderError {
  const cause = operatorCause('ark', upstream.apiKey, { code: 'lookup', message });
  return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
}

function isNewestFirst(items: readonly ArkTask[]): boolean {
  return items.every(({ created_at: at = 0 }, i) => i === 0 || at <= (items[i - 1]?.created_at ?? 0));
}
