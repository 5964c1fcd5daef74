import type { Model } from '../../models/definition/model.ts';
import type { PreparedRequest, ProviderRequest, ResolvedInput, Upstream } from '../../providers/contract/provider.ts';
import type { ProviderRegistry, ReadyBinding } from '../../providers/registry.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import type { Place, Submission } from '../../tasks/record/submission.ts';

/**
 * The binding that was called before the crash, with the upstream model recorded then: a binding of the same address
 * may name another model now.
 */
export function bindingCalled(bindings: ReadyBinding[], task: ClaimedTask): ReadyBinding | undefined {
  const atSameAddress = bindings.filter(
    ({ name, credential, upstream }) =>
      name === task.provider && credential === task.credential && upstream.baseUrl === task.provider_url,
  );
  const binding = atSameAddress.find(({ upstream }) => upstream.model === task.provider_model) ?? atSameAddress[0];
  if (!binding || task.provider_model === null) return binding;
  return { ...binding, upstream: withModel(binding.upstream, task.provider_model) };
}

/** The key stays that of the binding: a SIGHUP replaces it there. */
const withModel = (upstream: Upstream, model: string): Upstream =>
  Object.create(upstream, { model: { value: model, enumerable: true } });

export const placeAt = ({ name, credential, concurrency, upstream }: ReadyBinding): Place => ({
  provider: name,
  url: upstream.baseUrl,
  model: upstream.model,
  credential,
  concurrency,
});

export const isSynchronous = ({ provider }: ReadyBinding, { kind }: ClaimedTask): boolean =>
  provider.synchronousKinds?.includes(kind) ?? false;

/** What the intent to submit records: where, what is approximated, and the price in force now. */
export function submissionTo(
  binding: ReadyBinding,
  { model, input, upstream }: ProviderRequest,
  { approximations, calls = 1 }: PreparedRequest,
  providers: ProviderRegistry,
): Submission {
  const priced = { provider: binding.name, model, upstreamModel: upstream.model, input, approximations };
  return { ...placeAt(binding), approximations, price: providers.priceOf(priced), calls };
}

/** @param definition the model in the version that the task runs under */
export const requestOf = (
  { id, model, kind, input }: ClaimedTask,
  definition: Model,
  { upstream }: ReadyBinding,
  images: ProviderRequest['images'],
): ProviderRequest => ({
  taskId: id,
  model,
  definition,
  kind,
  input: input as unknown as ResolvedInput, // validated when the task was created
  images,
  upstream,
});

export const hasImages = ({ images }: ProviderRequest): boolean =>
  images.references.length > 0 || [images.firstFrame, images.lastFrame, images.mask].some(Boolean);
