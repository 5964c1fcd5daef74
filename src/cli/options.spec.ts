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
    expect(Math.abs(moment('30d') - (Date.now() / 1000 + 30 * 86_400))).toBeLessThan(2);
    expect(Math.abs(moment('12h') - (Date.now() / 1000 + 12 * 3600))).toBeLessThan(2);
    for (const text of ['', 'soon', '30', '3w', '2027-13-01']) expect(() => moment(text)).toThrow();
  });
});
