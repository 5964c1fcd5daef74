import { piecesOf, type Range } from './pieces.ts';

const DAY = 86_400;

const HOUR = 3_600;

describe('the pieces of a bucket', () => {
  it('are whole days, quarters that are added or taken away, and parts of a quarter', () => {
    const since = 10 * DAY - 1_000;
    const until = 12 * DAY + 2_000;
    const at = (from: number, to: number): Range => ({ bucket: 0, since: from, until: to });
    expect(piecesOf([{ bucket: 0, since, until }], true)).toEqual({
      edges: [at(since, 10 * DAY - 900), at(12 * DAY + 1_800, until)],
      quarters: [
        { ...at(10 * DAY - 900, 10 * DAY), weight: 1 },
        { ...at(12 * DAY, 12 * DAY + 1_800), weight: 1 },
      ],
      days: [{ ...at(10 * DAY, 12 * DAY), weight: 1 }],
    });
    expect(piecesOf([{ bucket: 0, since, until }], false).days).toEqual([]);
  });

  it('are a few quarters for the day of a zone, and never more than the quarters of the bucket', () => {
    const [since, until] = [10 * DAY - 2 * HOUR, 11 * DAY - 2 * HOUR];
    expect(piecesOf([{ bucket: 3, since, until }], true)).toEqual({
      edges: [],
      quarters: [
        { bucket: 3, since, until: 10 * DAY, weight: 1 },
        { bucket: 3, since: until, until: 11 * DAY, weight: -1 },
      ],
      days: [{ bucket: 3, since: 10 * DAY, until: 11 * DAY, weight: 1 }],
    });
    const noon = [{ bucket: 0, since: 10 * DAY + 11 * HOUR, until: 10 * DAY + 13 * HOUR }];
    expect(piecesOf(noon, true)).toEqual({ edges: [], quarters: [{ ...noon[0], weight: 1 }], days: [] });
  });

  it('count every second of the range once, and no other', () => {
    for (let nth = 0; nth < 2_000; nth += 1) {
      const since = Math.floor(Math.random() * 3 * DAY);
      const until = since + 1 + Math.floor(Math.random() * (nth % 2 ? 3 * DAY : 2_000));
      const { days, quarters, edges } = piecesOf([{ bucket: 0, since, until }], nth % 3 > 0);
      /** By how much the count of a second differs from that of the second before. */
      const changes = new Map<number, number>();
      const add = (second: number, count: number) => changes.set(second, (changes.get(second) ?? 0) + count);
      for (const { weight, ...piece } of [...days, ...quarters, ...edges.map((edge) => ({ ...edge, weight: 1 }))]) {
        add(piece.since, weight);
        add(piece.until, -weight);
      }
      expect(new Map([...changes].filter(([, count]) => count !== 0))).toEqual(
        new Map([
          [since, 1],
          [until, -1],
        ]),
      );
      expect(days.every((piece) => piece.since % DAY === 0 && piece.until % DAY === 0)).toBe(true);
      expect(quarters.every((piece) => piece.since % 900 === 0 && piece.until % 900 === 0)).toBe(true);
    }
  });
});
