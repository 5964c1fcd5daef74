import * as fc from 'fast-check';
import { crc32 } from 'node:zlib';
import { hintOf, isWellFormed, newApiKey } from './api-key-format.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('the format of an API key', () => {
  it('is dr_ and 46 base62 characters, never the same twice', () => {
    const keys = Array.from({ length: 1000 }, () => newApiKey());
    for (const key of keys) expect(key).toMatch(/^dr_[0-9A-Za-z]{46}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('ends in the CRC-32 of its 40 random characters, in base62', () => {
    const key = newApiKey();
    const value = Array.from(key.slice(43)).reduce((sum, digit) => sum * 62 + DIGITS.indexOf(digit), 0);
    expect(value).toBe(crc32(key.slice(3, 43)));
  });

  it('begins with the cell: 38 random characters remain, and all else is as without one', () => {
    const keys = Array.from({ length: 1000 }, () => newApiKey('e7'));
    for (const key of keys) expect([key, isWellFormed(key)]).toEqual([expect.stringMatching(/^dr_e7\w{44}$/), true]);
    expect(new Set(keys.map((key) => key.slice(5))).size).toBe(keys.length);
  });

  it('matches keys computed independently, including a left-padded checksum', () => {
    expect(isWellFormed(`dr_${'a'.repeat(40)}${base62(crc32('a'.repeat(40)))}`)).toBe(true);
    const small = Array.from({ length: 200_000 }, (_, i) => String(i).padStart(40, '0')).find(
      (t) => crc32(t) < 62 ** 4,
    )!;
    expect(isWellFormed(`dr_${small}${base62(crc32(small))}`)).toBe(true);
    expect(isWellFormed(`dr_${small}${base62(crc32(small)).replace(/^0+/, '')}`)).toBe(false);
  });

  it('detects any single wrong character', () => {
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 48 }), fc.integer({ min: 1, max: 61 }), (at, shift) => {
        const key = newApiKey();
        const other = DIGITS[(DIGITS.indexOf(key[at]!) + shift) % 62];
        return !isWellFormed(key.slice(0, at) + other + key.slice(at + 1));
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['the bare prefix', 'dr_'],
    ['another prefix', newApiKey().replace('dr_', 'sk_')],
    ['a key cut short', newApiKey().slice(0, -1)],
    ['a key with a character too many', newApiKey() + 'x'],
    ['a key after a space', ' ' + newApiKey()],
    ['a key before a line feed', newApiKey() + '\n'],
    ['other alphabets', `dr_${'ä'.repeat(46)}`],
  ])('refuses %s', (_, key) => expect(isWellFormed(key)).toBe(false));

  it('uses every digit equally often', () => {
    const seen = new Map<string, number>();
    for (let i = 0; i < 5000; i++)
      for (const digit of newApiKey().slice(3, 43)) seen.set(digit, (seen.get(digit) ?? 0) + 1);
    const mean = (5000 * 40) / 62;
    expect(seen.size).toBe(62);
    // Six standard deviations: a bias of 256 mod 62 would put eight digits 25 % above the rest.
    for (const count of seen.values()) expect(Math.abs(count - mean)).toBeLessThan(6 * Math.sqrt(mean));
  });

  it('has a hint of at most the first two and last four characters', () => {
    const key = newApiKey();
    expect(hintOf(key)).toBe(`dr_${key.slice(3, 5)}…${key.slice(-4)}`);
  });
});

/** The checksum computed another way: BigInt division of the whole number. */
function base62(value: number): string {
  let digits = '';
  for (let rest = BigInt(value); rest > 0n; rest /= 62n) digits = DIGITS[Number(rest % 62n)] + digits;
  return digits.padStart(6, '0');
}
