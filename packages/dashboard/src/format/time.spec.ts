import { ago, duration } from './time.ts';

describe('duration', () => {
  it.each([
    [0.94, '0.9 s'],
    [-0.2, 'under 0.1 s'],
    [0.04, 'under 0.1 s'],
    [0, 'under 1 s'],
    [-1, 'under 1 s'],
    [6, '6 s'],
    [60, '1 min'],
    [14.2, '14 s'],
    [200, '3 min 20 s'],
    [3_900, '1 h 5 min'],
    [7_200, '2 h'],
    [183_600, '2 d 3 h'],
  ])('shows %d seconds as %s', (seconds, text) => expect(duration(seconds)).toBe(text));
});

describe('ago', () => {
  it.each([
    [1, 'just now'],
    [42, '42 s ago'],
    [240, '4 min ago'],
    [7_300, '2 h ago'],
    [90_000, 'yesterday'],
    [260_000, '3 days ago'],
  ])('shows an age of %d seconds as %s', (age, text) => expect(ago(1_000_000 - age, 1_000_000)).toBe(text));
});
