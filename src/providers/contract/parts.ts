import { hasSlot } from '../templates/template.ts';
import type { ProviderRequest } from './provider.ts';

/** The most pictures of one call, if the binding does not state `max_n`. */
export const DEFAULT_PICTURES = 10;

/**
 * One of the calls that make the outputs of a request: the index of its first output, and the number of its outputs.
 */
export interface Part {
  first: number;
  n: number;
}

/** The most pictures that one call with this template may request: 1 if it has no slot for the number. */
export const mostIn = (template: unknown): number => (hasSlot(template, 'n') ? DEFAULT_PICTURES : 1);

/**
 * Divides the outputs of a request among calls.
 * @param most the most pictures of one call
 */
export function partsOf({ kind, input }: ProviderRequest, most: number): Part[] {
  const wanted = kind === 'image' ? (input.n ?? 1) : 1;
  return Array.from({ length: Math.ceil(wanted / most) }, (_, at) => ({
    first: at * most,
    n: Math.min(most, wanted - at * most),
  }));
}

/**
 * The request of one call, with its number of pictures. A seed of the client is raised by the index of the first
 * output.
 */
export function partOf(request: ProviderRequest, { first, n }: Part): ProviderRequest {
  const { input, kind } = request;
  const seed = input.seed === undefined ? {} : { seed: input.seed + first };
  return { ...request, input: { ...input, ...(kind === 'image' && { n }), ...seed } };
}
