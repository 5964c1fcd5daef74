import { retryDelayS } from './attempt.ts';

const SCHEDULE = [5, 30, 120];
const nowMs = Date.parse('2026-11-20T12:00:00Z');
const delay = (failures: number, retryAfter?: unknown, random = 0) =>
  retryDelayS(SCHEDULE, failures, retryAfter, { random: () => random, nowMs });

describe('the time to the next attempt', () => {
  it('follows the schedule, then is null', () => {
    expect([1, 2, 3, 4].map((failures) => delay(failures))).toEqual([5, 30, 120, null]);
    expect(retryDelayS([], 1, undefined)).toBeNull();
  });

  it('is up to 20 % longer, at random', () => {
    expect(delay(2, undefined, 0.5)).toBeCloseTo(33);
    expect(delay(2, undefined, 0.9999)).toBeLessThan(36);
    for (let tries = 0; tries < 100; tries++) {
      const drawn = retryDelayS(SCHEDULE, 1, undefined) as number;
      expect(drawn).toBeGreaterThanOrEqual(5);
      expect(drawn).toBeLessThan(6);
    }
  });

  it.each([
    ['7', 7],
    [' 7 ', 7],
    ['1', 5],
    ['0', 5],
    ['3600', 10],
    ['Fri, 20 Nov 2026 12:00:08 GMT', 8],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 5],
    ['Sat, 21 Nov 2026 12:00:00 GMT', 10],
  ])('follows Retry-After %j, between one and two times the scheduled delay', (header, expected) => {
    expect(delay(1, header)).toBe(expected);
  });

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
  ])('ignores Retry-After %j', (header) => expect(delay(1, header)).toBe(5));

  it('is null after the schedule, whatever Retry-After says', () => {
    expect(delay(4, '7')).toBeNull();
  });
});
