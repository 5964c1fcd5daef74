import type { Approximation } from '../../tasks/record/task.entity.ts';
import {
  type PreparedRequest,
  type Provider,
  type ProviderRequest,
  type ResolvedInput,
  UnsupportedRequest,
} from './provider.ts';

/** The worker converts the outputs of every provider, so adapters do not get these parameters. */
export const OF_WORKER: readonly string[] = ['output_format', 'output_compression'] satisfies (keyof ResolvedInput)[];

/** A wish that a provider may leave aside: its value where the provider does not have it. The task records that. */
const LEFT_TO_MODEL = { quality: 'auto' } as const;
type Wish = keyof typeof LEFT_TO_MODEL;

export const isWish = (param: string): param is Wish => Object.hasOwn(LEFT_TO_MODEL, param);

/**
 * `provider.prepare`, after a check that the adapter uses every parameter of the input: an unknown parameter would
 * otherwise be dropped silently.
 * @throws UnsupportedRequest
 */
export function prepareRequest(provider: Provider, request: ProviderRequest): PreparedRequest {
  const taken: readonly string[] = provider.takes;
  const input: Record<string, unknown> = {};
  const approximations: Approximation[] = [];
  for (const [param, value] of Object.entries(request.input)) {
    if (value === undefined || OF_WORKER.includes(param)) continue;
    if (taken.includes(param)) input[param] = value;
    else if (isWish(param)) approximations.push(...leftToModel(param, request.input));
    else throw new UnsupportedRequest(param, `${provider.name} does not take ${param}.`);
  }
  const prepared = provider.prepare({ ...request, input: input as unknown as ResolvedInput });
  if (approximations.length === 0) return prepared;
  return { ...prepared, approximations: [...prepared.approximations, ...approximations] };
}

/** For an adapter that takes a wish for some of its models only. */
export function leftToModel(param: Wish, input: ResolvedInput): Approximation[] {
  const [requested, used] = [input[param], LEFT_TO_MODEL[param]];
  return requested === undefined || requested === used ? [] : [{ param, requested, used }];
}
