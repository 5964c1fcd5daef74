import { bytes, codePoints, percent, plural, sumWords } from './numbers.ts';

describe('numbers', () => {
  it('shows bytes in decimal units with one place', () => {
    expect([0, 999, 1_000, 1_449_000, 2_500_000_000].map(bytes)).toEqual([
      '0 B',
      '999 B',
      '1.0 kB',
      '1.4 MB',
      '2.5 GB',
    ]);
  });

  it('counts characters as the API does, an emoji as one', () => expect(codePoints('a😀')).toBe(2));

  it('shows whole percent', () => expect(percent(0.987)).toBe('99 %'));

  it('shows no cost where no task has a price', () => {
    const costOf = (costMicros: number, unpricedTasks: number) => sumWords({ costMicros, unpricedTasks }, 'USD');
    expect([costOf(0, 2), costOf(0, 0), costOf(40_000, 2)].map((text) => text.replaceAll('\u00A0', ' '))).toEqual([
      '–',
      'USD 0.00',
      'USD 0.04',
    ]);
  });

  it('uses the singular for one', () => expect([plural(1, 'task'), plural(2, 'task')]).toEqual(['1 task', '2 tasks']));
});
