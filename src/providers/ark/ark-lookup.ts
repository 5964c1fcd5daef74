import { ProviderError, type ProviderRequest } from '../provider.ts';
import { networkCause, operatorCause } from '../wire/operator-cause.ts';
import { readWithRetry } from '../jobs/poll.ts';
import { upstreamFetch } from '../wire/upstream-fetch.ts';
import { arkCall, arkPatience } from './ark-call.ts';
import type { ArkList, ArkTask } from './ark-wire.ts';
import { seedOf } from '../families/seedance.ts';

const PAGE_SIZE = 100;

/** 2,000 tasks of the account; who made more since then is not searched to the end. */
const MAX_PAGES = 20;

/** Tasks that do not tell their seed in the list and have to be read one by one. */
const MAX_READS = 50;

/** Between our clock and theirs. */
const SKEW_S = 300;

/**
 * Finds the task whose create call got no answer. Ark knows no word of ours but the seed, which is the task's own number;
 * among the tasks made since then, two of the same seed are as likely as a hit in two thousand million.
 * @param since unix seconds before which it cannot have been made
 * @returns null when the list was read to its end and it is surely not there
 * @throws ProviderError provider_outcome_unknown when the list does not tell; the reason of the signal
 */
export async function findTask(request: ProviderRequest, since: number, signal: AbortSignal): Promise<string | null> {
  const seed = seedOf(request.taskId);
  let reads = 0;
  for (let page = 1, seen = 0; page <= MAX_PAGES; page++) {
    const { items, total } = await list(request, page, signal);
    if (!Array.isArray(items) || typeof total !== 'number') throw unknown(request, 'this is no list');
    const recent = items.filter(({ created_at: at }) => at === undefined || at >= since - SKEW_S);
    for (const item of recent) {
      const { id } = item;
      if (typeof id !== 'string') continue;
      if (item.seed === undefined && ++reads > MAX_READS) throw unknown(request, 'too many tasks to read one by one');
      if ((item.seed ?? (await read(request, id, signal)).seed) === seed) return id;
    }
    seen += items.length;
    if (items.length === 0 || seen >= total) return null;
    // The newest come first; should that ever change, the search just goes on to its limit.
    if (recent.length === 0 && isFalling(items)) return null;
  }
  throw unknown(request, 'the list is too long');
}

async function list(request: ProviderRequest, page: number, signal: AbortSignal): Promise<ArkList> {
  const path = `?page_num=${page}&page_size=${PAGE_SIZE}`;
  return (await patiently(request, path, signal)) as ArkList;
}

async function read(request: ProviderRequest, id: string, signal: AbortSignal): Promise<ArkTask> {
  return (await patiently(request, `/${encodeURIComponent(id)}`, signal)) as ArkTask;
}

/** Not for ever: while Ark is away, other tasks wait for this worker. */
const LOOKUP_TIMEOUT_MS = 60_000;

async function patiently(request: ProviderRequest, path: string, signal: AbortSignal): Promise<unknown> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(LOOKUP_TIMEOUT_MS)]);
  const look = () => upstreamFetch(...arkCall(request, path, { signal: bounded }));
  try {
    return (await readWithRetry(look, arkPatience(request, bounded))).json;
  } catch (error) {
    signal.throwIfAborted();
    const cause = error instanceof ProviderError ? error.cause : networkCause('ark', error);
    throw new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
  }
}

function unknown({ upstream }: ProviderRequest, message: string): ProviderError {
  const cause = operatorCause('ark', upstream.apiKey, { code: 'lookup', message });
  return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
}

function isFalling(items: readonly ArkTask[]): boolean {
  return items.every(({ created_at: at = 0 }, i) => i === 0 || at <= (items[i - 1]?.created_at ?? 0));
}
