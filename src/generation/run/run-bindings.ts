import type { Model } from '../../models/definition/model.ts';
import type { PreparedRequest, ProviderRequest, ResolvedInput, Upstream } from '../../providers/contract/provider.ts';
import type { ProviderRegistry, ReadyBinding } from '../../providers/registry.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import type { Place, Submission } from '../../tasks/record/submission.ts';

/**
 * The binding that an earlier claim of the task called, with the upstream model and the address recorded then, because
 * the declaration may have changed since. Undefined if the binding is gone.
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

/** The result inherits from `upstream`, so that it has the API key that a SIGHUP puts into `upstream`. */
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

/**
 * What the intent to submit records: the address with its credential, the approximations, the price in force now and
 * the number of calls.
 */
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

type Addressed = Pick<ReadyBinding, 'endpoint' | 'circuit' | 'upstream' | 'name'>;

/** Counts the tasks of a provider by address. */
type Count = (provider: string, urls: string[]) => Promise<ReadonlyMap<string, number>>;

/** Spreads tasks over the servers of the same declared model. */
export class EvenLoad {
  /**
   * The number of runs of this process at each endpoint. A run that has not recorded an intent yet is counted only
   * here.
   */
  private readonly running = new Map<string, number>();

  /** Runs `work`, and counts it as a run at the endpoint until it settles. */
  async at<Result>(endpoint: string, work: () => Promise<Result>): Promise<Result> {
    this.add(endpoint, 1);
    try {
      return await work();
    } finally {
      this.add(endpoint, -1);
    }
  }

  /**
   * Bindings in the order in which to try them. If a declaration has several addresses for a model, the bindings at
   * these addresses are sorted: a closed circuit before an open one, then fewer tasks before more. Equal bindings keep
   * their order.
   * @param count called only for bindings at several addresses, so that other bindings cost no statement
   */
  async inOrder<Binding extends Addressed>(bindings: readonly Binding[], count: Count): Promise<Binding[]> {
    const groups = [...Map.groupBy(bindings, ({ upstream, endpoint }) => upstream.declared ?? endpoint).values()];
    return (await Promise.all(groups.map((equal) => this.sorted(equal, count)))).flat();
  }

  private async sorted<Binding extends Addressed>(equal: Binding[], count: Count): Promise<Binding[]> {
    const [first] = equal;
    if (!first || equal.length === 1) return equal;
    const urls = equal.map(({ upstream }) => upstream.baseUrl);
    const counted = await count(first.name, urls);
    const tasks = ({ endpoint, upstream }: Binding) =>
      Math.max(counted.get(upstream.baseUrl) ?? 0, this.running.get(endpoint) ?? 0);
    return equal.toSorted((a, b) => Number(a.circuit.isOpen) - Number(b.circuit.isOpen) || tasks(a) - tasks(b));
  }

  private add(endpoint: string, tasks: number): void {
    const left = (this.running.get(endpoint) ?? 0) + tasks;
    if (left > 0) this.running.set(endpoint, left);
    else this.running.delete(endpoint);
  }
}
