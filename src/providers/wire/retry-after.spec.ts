import { retryAfterMs } from './retry-after.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

it.each([
  ['7', 7000],
  ['0', 0],
  ['1.5', 1500],
  [' 20 ', 20_000],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
])('%j asks for %s ms', (value, ms) => expect(retryAfterMs({ 'retry-after': value }, NOW)).toBe(ms));

it('is silent without the header', () => expect(retryAfterMs({})).toBeUndefined());
