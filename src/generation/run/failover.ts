import { ProviderError, UnsupportedRequest } from '../../providers/contract/provider.ts';
import type { ReadyBinding } from '../../providers/registry.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import { MustWait, waitForProvider } from './must-wait.ts';
import { withoutPrompt } from './without-prompt.ts';

/** Why a binding did not serve a task. The provider has accepted nothing. */
export type Skipped = ProviderError | UnsupportedRequest | MustWait;

/**
 * Whether the next binding may be tried. A content refusal is final: the same content is not sent to the next provider.
 */
export function canTryNext(error: unknown): error is Skipped {
  if (error instanceof UnsupportedRequest || error instanceof MustWait) return true;
  return error instanceof ProviderError && error.billing === 'none' && error.code !== 'content_policy_violation';
}

/**
 * What becomes of a task that no binding served. It waits if a binding may serve it later. Otherwise it fails with the
 * first error of a provider, or else because no provider can do what it asks for.
 */
export function failureOf(task: ClaimedTask, skipped: Skipped[]): ProviderError | MustWait {
  const waits = skipped.filter((one) => one instanceof MustWait);
  const [soonest] = waits.toSorted((one, other) => one.seconds - other.seconds);
  if (soonest) return soonest;
  const errors = skipped.filter((one) => one instanceof ProviderError);
  const away = errors.find(({ code }) => code === 'provider_unavailable');
  if (away) return waitForProvider(task, away.retryAfterMs);
  const [refusal] = errors;
  if (refusal) return refusal;
  const [unsupported] = skipped.filter((one) => one instanceof UnsupportedRequest);
  if (!unsupported) return new ProviderError('provider_rejected');
  // The error's own message names the provider, which only the operator may see.
  const message = `No provider of this model can do what ${unsupported.param} asks for.`;
  return new ProviderError('provider_rejected', { message, param: unsupported.param });
}

export const skipOf = (
  task: ClaimedTask,
  { name, credential, upstream }: ReadyBinding,
  error: ProviderError | UnsupportedRequest,
) => ({
  event: 'binding.skipped',
  task_id: task.id,
  provider: name,
  credential,
  upstream_model: upstream.model,
  code: error instanceof UnsupportedRequest ? 'unsupported' : error.code,
  reason: error instanceof UnsupportedRequest ? error.message : withoutPrompt(error.cause, task.input.prompt),
});
