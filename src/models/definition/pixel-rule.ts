import type { Size } from './sizes.ts';

/** The exact sizes that a model makes besides those of its table. */
export interface PixelRule {
  /** Each side is a multiple of this. */
  step: number;
  min_side: number;
  max_side: number;
  min_pixels?: number;
  max_pixels?: number;
  /** The highest ratio of the longer side to the shorter one. */
  max_ratio?: number;
}

export function takesSize(rule: PixelRule, { width, height }: Size): boolean {
  const [short, long] = [Math.min(width, height), Math.max(width, height)];
  const { step, min_side, max_side, min_pixels = 0, max_pixels = Infinity, max_ratio = Infinity } = rule;
  return (
    width % step === 0 &&
    height % step === 0 &&
    short >= min_side &&
    long <= max_side &&
    width * height >= min_pixels &&
    width * height <= max_pixels &&
    long / short <= max_ratio
  );
}

/** For example `WIDTHxHEIGHT, each a multiple of 16 from 256 to 2048, at most 2359296 pixels` */
export function sizeInWords({ step, min_side, max_side, min_pixels, max_pixels, max_ratio }: PixelRule): string {
  const side = step === 1 ? 'a whole number' : `a multiple of ${step}`;
  return [
    'WIDTHxHEIGHT',
    `each ${side} from ${min_side} to ${max_side}`,
    ...(min_pixels === undefined ? [] : [`at least ${min_pixels} pixels`]),
    ...(max_pixels === undefined ? [] : [`at most ${max_pixels} pixels`]),
    ...(max_ratio === undefined ? [] : [`at most ${max_ratio} to 1`]),
  ].join(', ');
}

/** @param given the client's text, which the caller must keep short */
export const sizeFault = (rule: PixelRule, given: string): string =>
  `size must be ${sizeInWords(rule)}, not ${JSON.stringify(given)}.`;
