import { endWords } from './ends.ts';

const HOUR = 3_600;
const NOW = 1_000_000;

describe('the words of a file that is soon deleted', () => {
  it.each([
    [48, 'Deleted in 2 days'],
    [37, 'Deleted in 2 days'],
    [36, 'Deleted in 36 hours'],
    [2.9, 'Deleted in 2 hours'],
    [0.51, 'Deleted in 31 min'],
  ])('%s hours before its end: %s', (hours, words) => {
    expect(endWords(NOW + hours * HOUR, NOW)).toBe(words);
  });

  it('are none earlier, later, and for a file without an end', () => {
    expect([NOW + 48 * HOUR + 1, NOW, NOW - 1, 0].map((until) => endWords(until, NOW))).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});
