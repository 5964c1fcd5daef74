import { DAY_MS } from '../../schema/time.ts';
import { coveredUntil, type Range, rangesAhead } from './ranges.ts';

const days = (...ranges: [number, number][]): Range[] =>
  ranges.map(([from, to]) => ({ fromMs: from * DAY_MS, toMs: to * DAY_MS }));
const NOON = 100.5 * DAY_MS;
const ahead = (existing: Range[], length = 7) => rangesAhead(existing, 100 * DAY_MS, NOON, length);

describe('the partitions to make', () => {
  it('follow the last one, for seven days and for two partitions at least', () => {
    expect(ahead(days([90, 101]))).toEqual(days([101, 108], [108, 115]));
    expect(ahead(days([90, 101]), 3)).toEqual(days([101, 104], [104, 107], [107, 110]));
    expect(ahead(days([90, 101]), 30)).toEqual(days([101, 131], [131, 161]));
    expect(ahead(days([90, 101], [101, 115]))).toEqual([]);
  });

  it('begin today when none was made for a while', () => {
    expect(ahead(days([80, 90]))).toEqual(days([100, 107], [107, 114], [114, 121]));
  });

  it('are also made before those that a clock far ahead has left', () => {
    const left = days([90, 97], [2000, 2007], [2007, 2014]);
    expect(ahead(left)).toEqual(days([100, 107], [107, 114], [114, 121]));
    expect(coveredUntil(left, NOON)).toBe(NOON);
  });

  it('end where the next one begins', () => {
    const between = days([90, 97], [104, 106]);
    expect(ahead(between)).toEqual(days([100, 104], [106, 113], [113, 120]));
    expect(coveredUntil([...days([90, 104]), ...between.slice(1)], NOON)).toBe(106 * DAY_MS);
  });
});
