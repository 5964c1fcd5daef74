import { jest } from '@jest/globals';
import { stopClock } from '../../../test/support/clock.ts';
import { list, moment, number, wholeNumber } from './options.ts';

describe('command line options', () => {
  it('parse whole numbers and numbers, and reject text that only starts like one', () => {
    expect([wholeNumber('0'), wholeNumber('42'), number('1.5'), number('3')]).toEqual([0, 42, 1.5, 3]);
    for (const text of ['', '-1', '1.5', '1e3', '0x10', '7 ', 'x']) expect(() => wholeNumber(text)).toThrow();
    for (const text of ['', '-1', '1.', '.5', '1e3', 'Infinity', 'NaN']) expect(() => number(text)).toThrow();
  });

  it('parse lists separated by commas or spaces', () => expect(list(' a,b  c, ')).toEqual(['a', 'b', 'c']));

  it('parse a moment as a date or as a time from now', () => {
    expect(moment('2027-01-31T12:00:00Z')).toBe(Date.UTC(2027, 0, 31, 12) / 1000);
    expect(moment('2027-01-31')).toBe(Date.UTC(2027, 0, 31) / 1000);
    stopClock();
    const now = Math.floor(Date.now() / 1000);
    expect(moment('30d')).toBe(now + 30 * 86_400);
    expect(moment('12h')).toBe(now + 12 * 3600);
    jest.useRealTimers();
    for (const text of ['', 'soon', '30', '3w', '2027-13-01']) expect(() => moment(text)).toThrow();
  });
});
