import type { Approximation } from '../../tasks/record/task.entity.ts';
import {
  definitionOf,
  OF_WORKER,
  type PreparedRequest,
  type Provider,
  type ProviderRequest,
  type ResolvedInput,
  UnsupportedRequest,
} from './provider.ts';
import { chooseSize, type Size, type SizeChoice, type SizeTable } from '../../models/definition/sizes.ts';

/** A hint that a provider may leave aside: its value where the provider does not have it. The task records that. */
const LEFT_TO_MODEL = { quality: 'auto' } as const;
type Hint = keyof typeof LEFT_TO_MODEL;

export const isHint = (param: string): param is Hint => Object.hasOwn(LEFT_TO_MODEL, param);

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
    else if (isHint(param)) approximations.push(...leftToModel(param, request.input));
    else throw new UnsupportedRequest(param, `${provider.name} does not take ${param}.`);
  }
  const prepared = provider.prepare({ ...request, input: input as unknown as ResolvedInput });
  if (approximations.length === 0) return prepared;
  return { ...prepared, approximations: [...prepared.approximations, ...approximations] };
}

/** For an adapter that takes a hint for some of its models only. */
export function leftToModel(param: Hint, input: ResolvedInput): Approximation[] {
  const [requested, used] = [input[param], LEFT_TO_MODEL[param]];
  return requested === undefined || requested === used ? [] : [{ param, requested, used }];
}

interface Options {
  /** Where the upstream's model makes other sizes than the model that the client named. */
  sizes?: SizeTable;
  /** Whether the upstream takes a size. */
  accepts?: ((size: Size) => boolean) | undefined;
}

/**
 * Ratio and pixels of a request, from its model's table. `auto` becomes the ratio nearest to the first reference image, or a
 * square.
 * @throws UnsupportedRequest for a ratio or resolution without a size
 */
export function requestedSize(request: ProviderRequest, options: Options = {}): SizeChoice {
  const { input, images } = request;
  const { aspect_ratio: ratio, resolution } = input;
  const { sizes = definitionOf(request)?.sizes ?? {}, accepts } = options;
  const choice = chooseSize(sizes, { ratio, resolution, reference: images.references[0], accepts });
  if (choice) return choice;
  const param = ratio === 'auto' || Object.hasOwn(sizes, ratio) ? 'resolution' : 'aspect_ratio';
  throw new UnsupportedRequest(param, `There is no size for ${ratio} in ${resolution}.`);
}
