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

/** Ids are kept with the task, are listed with commas, and become part of paths. */
const JOB_ID = /^(?!\.{1,2}$)[^\s,?\0]{1,1000}$/;

export const isJobId = (id: string): boolean => JOB_ID.test(id);

/**
 * Reads the reply to a job's create call. A job whose id cannot be kept was accepted all the same.
 * @throws ProviderError whose `billing` says what the call may have cost
 */
export async function acceptedJob({ provider, call, idOf, requestIdOf, refused }: CreateCall): Promise<Accepted> {
  const reply = await call.catch((error: unknown) => {
    throw submitUnanswered(provider, error);
  });
  const id = idOf(reply);
  if (reply.status >= 300 || !id || !isJobId(id)) throw refused(reply);
  return { id, requestId: requestIdOf(reply) ?? null };
}
