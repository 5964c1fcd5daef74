import { ProviderError } from '../contract/provider.ts';
import { submitUnanswered } from '../wire/submit-failure.ts';
import type { UpstreamReply } from '../wire/upstream-fetch.ts';
import type { Accepted } from './submit-once.ts';

interface CreateCall {
  provider: string;
  /** The reply to the paid call, which is sent once. */
  call: Promise<UpstreamReply>;
  idOf: (reply: UpstreamReply) => string | undefined;
  requestIdOf: (reply: UpstreamReply) => string | undefined;
  /** The error for a reply without an accepted job. */
  refused: (reply: UpstreamReply) => ProviderError;
}

/** Ids are stored with the task, joined by commas, and become parts of paths. */
const JOB_ID = /^(?!\.{1,2}$)[^\s,?\0]{1,1000}$/;

export const isJobId = (id: string): boolean => JOB_ID.test(id);

/**
 * Reads the reply to the create call of a job. A reply whose id cannot be stored counts as one without a job.
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
