import { ProviderError, type ProviderRequest } from '../contract/provider.ts';
import { seedOf } from '../contract/seed.ts';
import { pollOptions, readWithRetry } from '../jobs/poll.ts';
import { networkCause, operatorCause } from '../wire/operator-cause.ts';
import { parseReply } from '../wire/reply-schema.ts';
import { callReplicate, REPLICATE_POLL_MS } from './replicate-call.ts';
import { predictionPage } from './replicate-wire.ts';

/**
 * A search reads at most 10 pages, which are 1,000 predictions. If it needs more, its result is
 * provider_outcome_unknown.
 */
const MAX_PAGES = 10;

/** The largest difference between the clocks of this service and of Replicate. */
const SKEW_MS = 300_000;

/**
 * The time limit for reading one page, including its retries. A lookup takes a slot of a worker. The pause between two
 * lookups takes none.
 */
const TIMEOUT_MS = 30_000;

/**
 * Finds the prediction whose create call got no answer, by its seed. The seed derives from the id of the task. Only the
 * inputs of Seedance have a seed; predictions of other models cannot be distinguished.
 * @param sinceMs unix milliseconds; the prediction was not created before this time
 * @returns Replicate's id of the prediction; null if every prediction since `sinceMs` was read, and none matches
 * @throws ProviderError provider_outcome_unknown when the list does not show whether the prediction exists,
 *   provider_unavailable when the list cannot be read; the reason of `signal` when it is aborted
 */
export async function findPrediction(
  request: ProviderRequest,
  sinceMs: number,
  signal: AbortSignal,
): Promise<string | null> {
  const { model } = request.upstream;
  if (request.kind !== 'video')
    throw unknown(request, 'the inputs of this model contain nothing that identifies a task');
  // A seed that the client has chosen does not identify the prediction, because another one may have the same seed.
  if (request.input.seed !== undefined) throw unknown(request, 'the seed is not derived from the task');
  const seed = seedOf(request.taskId);
  let query = '';
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { results, next } = await list(request, query, signal);
    if (!results) throw unknown(request, 'the reply is not a list');
    for (const { id, model: usedModel, input, created_at: at, data_removed: isDataRemoved } of results) {
      if (at !== undefined && Date.parse(at) < sinceMs - SKEW_MS) return null; // the newest come first
      if (usedModel !== undefined && usedModel !== model) continue;
      if (id !== undefined && input?.seed === seed) return id;
      if (!input || isDataRemoved) throw unknown(request, 'the list does not contain the inputs');
    }
    if (!next) return null;
    // Only the cursor of the URL is used: no text of the upstream may decide where the key is sent.
    query = `?cursor=${encodeURIComponent(URL.parse(next)?.searchParams.get('cursor') ?? '')}`;
  }
  throw unknown(request, 'the list is too long');
}

async function list(request: ProviderRequest, query: string, signal: AbortSignal) {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const read = () => callReplicate(request, `/predictions${query}`, { signal: bounded });
  const options = pollOptions('replicate', request, REPLICATE_POLL_MS[request.kind], bounded);
  try {
    return parseReply(predictionPage, (await readWithRetry(read, options)).json);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ProviderError) throw unknown(request, 'the list cannot be read');
    throw new ProviderError('provider_unavailable', { billing: 'unknown', cause: networkCause('replicate', error) });
  }
}

function unknown({ upstream }: ProviderRequest, message: string): ProviderError {
  const cause = operatorCause('replicate', upstream.apiKey, { code: 'lookup', message });
  return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
}
