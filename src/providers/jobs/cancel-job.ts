import { ProviderError } from '../contract/provider.ts';
import { junkCause, networkCause } from '../wire/operator-cause.ts';
import { UpstreamFailure, type UpstreamReply } from '../wire/upstream-fetch.ts';
import { pause } from '../wire/pause.ts';

/** A cancel may be repeated, because it has no further effect on a job that is cancelled already. */
const TRIES = 3;
/** The pause before the second try. It doubles with each try. The caller's signal limits the time of all tries. */
const RETRY_MS = 250;

/** Statuses that mean that the job has ended or is gone, so there is nothing to cancel. */
const ENDED: readonly number[] = [404, 409, 410];
const isTemporary = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;

interface CancelCall {
  provider: string;
  /** The API key of the call; removed from every logged text. */
  secret: string | null;
  send: () => Promise<UpstreamReply>;
  /** Whether a reply with any other status than those of ENDED means that the job has ended. */
  hasEnded?: ((reply: UpstreamReply) => boolean) | undefined;
  signal: AbortSignal;
}

/**
 * Cancels one job.
 * @returns whether the upstream has accepted the cancel; false when the job had ended already
 * @throws ProviderError when the upstream refuses or cannot be reached, so that the job may go on and cost
 */
export async function cancelJob(call: CancelCall): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    const failure = await tryOnce(call);
    if (typeof failure === 'boolean') return failure;
    if (!failure.mayRetry || attempt === TRIES || call.signal.aborted) throw failure.error;
    await pause(RETRY_MS * 2 ** (attempt - 1), call.signal);
  }
}

async function tryOnce({ provider, secret, send, hasEnded, signal }: CancelCall) {
  try {
    const reply = await send();
    if (reply.status < 300) return true;
    if (ENDED.includes(reply.status) || hasEnded?.(reply)) return false;
    const cause = junkCause(provider, secret, reply);
    return { error: new ProviderError('provider_rejected', { cause }), mayRetry: isTemporary(reply.status) };
  } catch (error) {
    if (!(error instanceof UpstreamFailure) && !signal.aborted) throw error;
    return {
      error: new ProviderError('provider_unavailable', { cause: networkCause(provider, error) }),
      mayRetry: true,
    };
  }
}
