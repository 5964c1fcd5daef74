import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { FixedPrice } from '../../tasks/record/task-usage.ts';
import type { ResolvedInput } from '../contract/provider.ts';

/** The number of micro-units in one unit of the currency. */
export const MICROS = 1_000_000n;

export const AMOUNTS = [
  'per_task',
  'per_image',
  'per_second',
  'per_million_input_tokens',
  'per_million_output_tokens',
] as const;
export type Amount = (typeof AMOUNTS)[number];

export const MATCHED = ['provider', 'model', 'upstream_model', 'resolution', 'quality'] as const;

/** A row of `prices` in the PROVIDERS file or in a declaration. A field that is absent in `fits` may have any value. */
export interface Price {
  fits: Partial<Record<(typeof MATCHED)[number], string>>;
  /** Micro-units. */
  amounts: Partial<Record<Amount, bigint>>;
  onFailure: 'none' | 'full';
  onCancel: 'none' | 'full';
}

/** What a price depends on: the binding and the request of a paid call. */
export interface PricedRequest {
  provider: string;
  /** The id of the model in this service. */
  model: string;
  upstreamModel: string;
  input: Pick<ResolvedInput, 'resolution' | 'size' | 'n' | 'duration'> & { quality?: string };
  /** The values that the provider uses instead of requested ones. The price is that of the values used. */
  approximations: readonly Approximation[];
}

/**
 * @returns the first price that fits, with the full amount for this request unless the price is by tokens alone; null
 *   if none fits
 */
export function priceOf(prices: readonly Price[], request: PricedRequest): FixedPrice | null {
  const { provider, model, upstreamModel: upstream_model } = request;
  const resolution = usedOf(request, 'resolution') as string | undefined;
  const quality = usedOf(request, 'quality') as string | undefined;
  const facts = { provider, model, upstream_model, resolution, quality };
  const price = prices.find(({ fits }) => MATCHED.every((key) => fits[key] === undefined || fits[key] === facts[key]));
  if (!price) return null;
  const seconds = usedOf(request, 'duration');
  const made =
    seconds === undefined ? { images: request.input.n ?? 1, seconds: 0 } : { images: 0, seconds: Number(seconds) };
  return fixed(price, made);
}

function usedOf({ input, approximations }: PricedRequest, param: 'resolution' | 'quality' | 'duration') {
  return approximations.find((approximation) => approximation.param === param)?.used ?? input[param];
}

function fixed({ amounts, onFailure, onCancel }: Price, { images, seconds }: { images: number; seconds: number }) {
  const { per_task = 0n, per_image = 0n, per_second = 0n } = amounts;
  const byTokensAlone = AMOUNTS.every((name) => amounts[name] === undefined || name.endsWith('_tokens'));
  const full = per_task + per_image * BigInt(images) + per_second * BigInt(Math.round(seconds));
  const ifFull = byTokensAlone ? undefined : Number(full);
  const failed = onFailure === 'full' ? ifFull : 0;
  const stopped = onCancel === 'none' ? 0 : ifFull;
  const price: FixedPrice = {
    ...Object.fromEntries(
      AMOUNTS.flatMap((name) => (amounts[name] === undefined ? [] : [[name, Number(amounts[name])]])),
    ),
    ...(ifFull !== undefined && { full: ifFull }),
    ...(failed !== undefined && { failed }),
    ...(stopped !== undefined && { stopped }),
  };
  return price;
}
