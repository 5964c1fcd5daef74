import { retryAfterMs } from './retry-after.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

it.each([
  ['7', 7000],
  ['1.5', 1500],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['soon', undefined],
])('%j asks for %s ms', (value, ms) => expect(retryAfterMs({ 'retry-after': value }, NOW)).toBe(ms));

it('is undefined without the header', () => expect(retryAfterMs({})).toBeUndefined());
