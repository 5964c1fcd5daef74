import { hasSlot } from '../templates/template.ts';
import type { ProviderRequest } from './provider.ts';

const DEFAULT_PICTURES = 10;

/** The calls that make all outputs of a request: the index of the first output of each, and how many it makes. */
export interface Part {
  first: number;
  n: number;
}

/** How many pictures a call makes at most, unless its declaration says so: one, if it does not say how many to make. */
export const mostIn = (template: unknown): number => (hasSlot(template, 'n') ? DEFAULT_PICTURES : 1);

/** @param most pictures of one call */
export function partsOf({ kind, input }: ProviderRequest, most: number): Part[] {
  const wanted = kind === 'image' ? (input.n ?? 1) : 1;
  return Array.from({ length: Math.ceil(wanted / most) }, (_, at) => ({
    first: at * most,
    n: Math.min(most, wanted - at * most),
  }));
}

/** The request of one of its calls: so many pictures, with seeds that count on. */
export function partOf(request: ProviderRequest, { first, n }: Part): ProviderRequest {
  const { input, kind } = request;
  const seed = input.seed === undefined ? {} : { seed: input.seed + first };
  return { ...request, input: { ...input, ...(kind === 'image' && { n }), ...seed } };
}
