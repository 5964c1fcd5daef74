import { piecesOf, type Range } from './pieces.ts';

const DAY = 86_400;

describe('the pieces of a bucket', () => {
  it('are whole days, then quarters, then parts of a quarter', () => {
    const since = 10 * DAY - 1_000;
    const until = 12 * DAY + 2_000;
    const at = (from: number, to: number): Range => ({ bucket: 0, since: from, until: to });
    expect(piecesOf([{ bucket: 0, since, until }], true)).toEqual({
      edges: [at(since, 10 * DAY - 900), at(12 * DAY + 1_800, until)],
      quarters: [at(10 * DAY - 900, 10 * DAY), at(12 * DAY, 12 * DAY + 1_800)],
      days: [at(10 * DAY, 12 * DAY)],
    });
    expect(piecesOf([{ bucket: 0, since, until }], false).days).toEqual([]);
  });

  it('cover every second exactly once', () => {
    for (let nth = 0; nth < 2_000; nth += 1) {
      const since = Math.floor(Math.random() * 3 * DAY);
      const until = since + 1 + Math.floor(Math.random() * (nth % 2 ? 3 * DAY : 2_000));
      const { days, quarters, edges } = piecesOf([{ bucket: 0, since, until }], nth % 3 > 0);
      const all = [...days, ...quarters, ...edges].toSorted((a, b) => a.since - b.since);
      expect(all[0]?.since).toBe(since);
      expect(all.at(-1)?.until).toBe(until);
      all.slice(1).forEach((piece, at) => expect(piece.since).toBe(all[at]?.until));
      expect(days.every((piece) => piece.since % DAY === 0 && piece.until % DAY === 0)).toBe(true);
      expect(quarters.every((piece) => piece.since % 900 === 0 && piece.until % 900 === 0)).toBe(true);
    }
  });
});
