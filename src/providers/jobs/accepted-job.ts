import { ProviderError } from '../contract/provider.ts';
import { submitUnanswered } from '../wire/submit-failure.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import type { Accepted } from './submit-once.ts';

interface CreateCall {
  provider: string;
  /** Sends the paid call once. */
  call: Promise<UpstreamReply>;
  idOf: (reply: UpstreamReply) => string | undefined;
  requestIdOf: (reply: UpstreamReply) => string | undefined;
  /** What a reply without an accepted job means. */
  refused: (reply: UpstreamReply) => ProviderError;
}

/**
 * Reads the reply to a job's create call.
 * @throws ProviderError whose `billing` says what the call may have cost
 */
export async function acceptedJob({ provider, call, idOf, requestIdOf, refused }: CreateCall): Promise<Accepted> {
  const reply = await call.catch((error: unknown) => {
    throw submitUnanswered(provider, error);
  });
  const id = idOf(reply);
  if (reply.status >= 300 || !id) throw refused(reply);
  return { id, requestId: requestIdOf(reply) ?? null };
}
