import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { seedOf } from '../contract/seed.ts';
import { readWithRetry } from '../jobs/poll.ts';
import { networkCause, operatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { arkPollOptions, callArk } from './ark-call.ts';
import { arkList, arkTask, type ArkTask } from './ark-wire.ts';

const PAGE_SIZE = 100;

/** A search reads at most 20 pages, which are 2,000 tasks. If it needs more, its result is provider_outcome_unknown. */
const MAX_PAGES = 20;

/** The most tasks that one search reads singly. It reads a task singly if the list omits the seed of the task. */
const MAX_READS = 50;

/** The largest difference between the clocks of this service and of Ark. */
const SKEW_MS = 300_000;

/**
 * The time limit of one read in a lookup, including its retries. A lookup takes a slot of a worker. The pause between
 * two lookups takes none.
 */
const LOOKUP_TIMEOUT_MS = 30_000;

/**
 * Finds the task whose create call got no answer, by its seed. The seed derives from the id of the task in this
 * service, and Ark returns no other value that was sent. Each task that was created later may match by chance, with a
 * probability of one in two thousand million.
 * @param sinceMs unix milliseconds; the task was not created before this time
 * @returns Ark's id of the task; null if every task since `sinceMs` was read, and none matches
 * @throws ProviderError provider_outcome_unknown when the list does not show whether the task exists,
 *   provider_unavailable when the list cannot be read; the reason of `signal` when it is aborted
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
    // Ark lists the newest tasks first. If a page breaks that order, the search reads the next page.
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

/**
 * @throws ProviderError provider_outcome_unknown when Ark refuses the read, provider_unavailable when it cannot be
 *   reached
 */
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
