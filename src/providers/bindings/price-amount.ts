import { MICROS } from './price.ts';

const MAX_PRICE = 1_000_000n;
const MAX_PLACES = 6;
const DECIMAL = /^([0-9]{1,12})(?:\.([0-9]{1,12}))?$/;

/**
 * Reads a decimal from text, because a number of JavaScript is not exact.
 * @returns micro-units; null if the text is not a valid amount
 */
export function microsOf(text: string): bigint | null {
  const [, whole, places = ''] = DECIMAL.exec(text.trim()) ?? [];
  if (whole === undefined || places.length > MAX_PLACES) return null;
  const micros = BigInt(whole + places.padEnd(MAX_PLACES, '0'));
  return micros <= MAX_PRICE * MICROS ? micros : null;
}

export const amountFault = (name: string, given: string): string =>
  `${name} must be a decimal from 0 to ${MAX_PRICE} with at most ${MAX_PLACES} places, not ${given}`;
