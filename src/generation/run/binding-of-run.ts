import type { Model } from '../../models/definition/model.ts';
import type { PreparedRequest, ProviderRequest, ResolvedInput, Upstream } from '../../providers/contract/provider.ts';
import type { ProviderRegistry, ReadyBinding } from '../../providers/registry.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import type { Place, Submission } from '../../tasks/record/submission.ts';

/**
 * The binding that was called before the crash, with the upstream model and the address recorded then: a binding of the
 * same address may name another model now, and a declaration another address.
 */
export function bindingCalled(
  providers: Pick<ProviderRegistry, 'bindingsOf' | 'at'>,
  model: Model,
  task: Pick<ClaimedTask, 'provider' | 'credential' | 'provider_url' | 'provider_model'>,
): ReadyBinding | undefined {
  const ofCredential = providers
    .bindingsOf(model)
    .filter(({ name, credential }) => name === task.provider && credential === task.credential);
  const atSameAddress = ofCredential.filter(({ upstream }) => upstream.baseUrl === task.provider_url);
  const binding = closest(atSameAddress, task) ?? (model.declared ? closest(ofCredential, task) : undefined);
  if (!binding) return undefined;
  const called = atSameAddress.includes(binding) ? binding : providers.at(binding, task.provider_url!);
  if (task.provider_model === null) return called;
  return { ...called, upstream: withModel(called.upstream, task.provider_model) };
}

const closest = (
  bindings: readonly ReadyBinding[],
  { provider_model }: Pick<ClaimedTask, 'provider_model'>,
): ReadyBinding | undefined => bindings.find(({ upstream }) => upstream.model === provider_model) ?? bindings[0];

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
  { id, parent_task_id, model, kind, input }: ClaimedTask,
  definition: Model,
  { upstream }: ReadyBinding,
  images: ProviderRequest['images'],
): ProviderRequest => ({
  taskId: id,
  parentTaskId: parent_task_id,
  model,
  definition,
  kind,
  input: input as unknown as ResolvedInput, // validated when the task was created
  images,
  upstream,
});

export const hasImages = ({ images }: ProviderRequest): boolean =>
  images.references.length > 0 || [images.firstFrame, images.lastFrame, images.mask].some(Boolean);
