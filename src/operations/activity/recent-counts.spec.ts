import { RecentCounts } from './recent-counts.ts';

describe('counts of the last hour', () => {
  let nowS: number;
  let counts: RecentCounts;
  beforeEach(() => {
    nowS = 1_000_000;
    counts = new RecentCounts(() => nowS);
  });

  it('are summed over the time that is asked for', () => {
    counts.add([['a', 1]]);
    nowS += 300;
    counts.add([
      ['a', 2],
      ['b', 5],
    ]);
    nowS += 5;
    counts.add([['a', 4]]);
    expect([...counts.sums(300)]).toEqual([
      ['a', 6],
      ['b', 5],
    ]);
    expect(counts.sums(3_600).get('a')).toBe(7);
  });

  it('are forgotten after an hour', () => {
    counts.add([['a', 1]]);
    nowS += 3_590;
    expect(counts.sums(3_600).get('a')).toBe(1);
    nowS += 20;
    expect([...counts.sums(3_600)]).toEqual([]);
  });
});
