import { ProviderError, type ProviderRequest } from '../provider.ts';
import { seedOf } from '../families/seedance.ts';
import { operatorCause } from '../wire/operator-cause.ts';
import { readWithRetry } from '../jobs/poll.ts';
import { taskTimeMs } from '../jobs/task-time.ts';
import { callReplicate, replicatePatience } from './replicate-call.ts';
import type { PredictionPage } from './replicate-wire.ts';

/** A thousand predictions of the account. */
const MAX_PAGES = 10;

/** Between our clock and theirs. */
const SKEW_MS = 300_000;

/** Not for ever: while Replicate is away, other tasks wait for this worker. */
const TIMEOUT_MS = 60_000;

/**
 * Finds the prediction whose create call got no answer by its seed, which is the task's own number. Only Seedance's inputs
 * have one; what else was asked for cannot be told from its like.
 * @returns null when the list was read back to the task's creation and it is surely not there
 * @throws ProviderError provider_outcome_unknown when the list does not tell; the reason of the signal
 */
export async function findPrediction(request: ProviderRequest, signal: AbortSignal): Promise<string | null> {
  const { model } = request.upstream;
  if (request.kind !== 'video') throw unknown(request, 'no mark of ours is in the inputs of this model');
  const seed = seedOf(request.taskId);
  const since = taskTimeMs(request.taskId) - SKEW_MS;
  let query = '';
  for (let page = 1; page <= MAX_PAGES; page++) {
    const { results, next } = await list(request, query, signal);
    if (!Array.isArray(results)) throw unknown(request, 'this is no list');
    for (const { id, model: made, input, created_at: at, data_removed: removed } of results) {
      if (at !== undefined && Date.parse(at) < since) return null; // the newest come first
      if (made !== undefined && made !== model) continue;
      if (typeof id === 'string' && input?.seed === seed) return id;
      if (!input || removed) throw unknown(request, 'the list does not tell the inputs');
    }
    if (!next) return null;
    // Only the cursor is taken from the address, not where to send our key.
    query = `?cursor=${encodeURIComponent(URL.parse(next)?.searchParams.get('cursor') ?? '')}`;
  }
  throw unknown(request, 'the list is too long');
}

async function list(request: ProviderRequest, query: string, signal: AbortSignal): Promise<PredictionPage> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const look = () => callReplicate(request, `/predictions${query}`, { signal: bounded });
  try {
    return (await readWithRetry(look, replicatePatience(request, bounded))).json as PredictionPage;
  } catch {
    signal.throwIfAborted();
    throw unknown(request, 'the list cannot be read');
  }
}

function unknown({ upstream }: ProviderRequest, message: string): ProviderError {
  const cause = operatorCause('replicate', upstream.apiKey, { code: 'lookup', message });
  return new ProviderError('provider_outcome_unknown', { billing: 'unknown', cause });
}
