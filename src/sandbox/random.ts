import { createHash } from 'node:crypto';

/** The only source of chance in a picture: the same words always throw the same dice. */
export interface Random {
  /** 0 up to, not including, 1. */
  next(): number;
  between(low: number, high: number): number;
  /** A whole number, both ends included. */
  whole(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** Dice seeded by SHA-256 of the words (generator: sfc32, by Chris Doty-Humphrey, public domain). */
export function seededRandom(...words: (string | number)[]): Random {
  const digest = createHash('sha256').update(words.join('\0')).digest();
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
