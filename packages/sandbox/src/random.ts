import { createHash } from 'node:crypto';

/** The only source of randomness in a picture. The same seed gives the same sequence. */
export interface Random {
  /** A number from 0 to below 1. */
  next(): number;
  between(low: number, high: number): number;
  /** A whole number; both bounds are included. */
  whole(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Seeds sfc32 (by Chris Doty-Humphrey, public domain) with the SHA-256 of its arguments. */
export function seededRandom(...seeds: (string | number)[]): Random {
  const digest = createHash('sha256').update(seeds.join('\0')).digest();
  let [a, b, c, counter] = [0, 4, 8, 12].map((offset) => digest.readInt32LE(offset)) as [
    number,
    number,
    number,
    number,
  ];
  const next = () => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  const whole = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    whole,
    chance: (probability) => next() < probability,
    pick: <T>(list: readonly T[]): T => list[whole(0, list.length - 1)] as T,
  };
}
