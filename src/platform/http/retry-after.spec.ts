import { parseRetryAfter } from './retry-after.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');

it.each([
  ['7', 7000],
  ['0', 0],
  [' 20 ', 20_000],
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
])('%j asks for %i ms', (header, ms) => expect(parseRetryAfter(header, NOW)).toBe(ms));

it.each([
  '',
  'soon',
  '-1',
  '1.5',
  '1e3',
  '2026-11-20T13:00:00Z',
  '99999999999999999999',
  'Fri, nonsense',
  undefined,
  ['7', '8'],
])('ignores %j', (header) => expect(parseRetryAfter(header, NOW)).toBeNull());

it('accepts fractions of a second on request', () => {
  expect(parseRetryAfter('1.5', NOW, 'fractions')).toBe(1500);
  expect(parseRetryAfter('7', NOW, 'fractions')).toBe(7000);
  expect(parseRetryAfter('1e3', NOW, 'fractions')).toBeNull();
});
