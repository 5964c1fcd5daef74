import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'dr_';
const RANDOM_LENGTH = 40; // 238 bits, or 226 when a cell takes two of the characters
const CHECKSUM_LENGTH = 6; // enough for a CRC-32: 62^6 > 2^32
const SYNTAX = /^dr_[0-9A-Za-z]{46}$/;

/**
 * A new API key: `dr_`, 40 random base62 characters and a checksum, which detects a typing error without a look-up.
 * @param cell base62 characters by which a router finds the deployment; the random part begins with them
 */
export function newApiKey(cell: string | null = null): string {
  const random = (cell ?? '') + randomBase62(RANDOM_LENGTH - (cell ?? '').length);
  return PREFIX + random + checksum(random);
}

/** Whether this can be one of our keys: correct syntax and a matching checksum. */
export function isWellFormed(key: string): boolean {
  if (!SYNTAX.test(key)) return false;
  const random = key.slice(PREFIX.length, PREFIX.length + RANDOM_LENGTH);
  return key.endsWith(checksum(random));
}

/** Enough of a key to recognise it, and far too little to guess it: `dr_ab…WXYZ`. */
export function hintOf(key: string): string {
  return `${key.slice(0, PREFIX.length + 2)}…${key.slice(-4)}`;
}

function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = DIGITS[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Discards bytes of 248 and above (248 = 4 x 62). Otherwise the digits 0 to 7 would be more likely than the others. */
function randomBase62(length: number): string {
  let digits = '';
  while (digits.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && digits.length < length) digits += DIGITS[byte % 62];
    }
  }
  return digits;
}
