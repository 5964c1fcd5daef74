import { startRate } from './estimates.service.ts';

const NOW_S = 1_000_000;
/** A start a second for the last minute, none before. */
const samples = Array.from({ length: 12 }, (_, nth) => ({ from_s: NOW_S - 60 + 5 * nth, started: 5 }));

describe('how many tasks start per second', () => {
  it.each([
    ['of the last five minutes', 3_600, 0.2],
    ['of the time for which tasks have waited', 60, 1],
    ['of five seconds at least', 0, 1],
  ])('is that %s', (_when, lineAgeS, rate) => {
    expect(startRate(samples, lineAgeS, NOW_S)).toBeCloseTo(rate, 5);
  });

  it('is unknown without a start', () => {
    expect(startRate([], 3_600, NOW_S)).toBeNull();
    expect(startRate([{ from_s: NOW_S - 400, started: 9 }], 3_600, NOW_S)).toBeNull();
  });
});
