import { justifiedRows, neighbour } from './justified-rows.ts';

const frame = { width: 1_000, height: 200, gap: 8 };
const items = [1, 1.5, 0.66, 1.77, 2.33, 1, 0.8, 1, 1.5].map((ratio, id) => ({ id, ratio }));

describe('justified rows', () => {
  const rows = justifiedRows(items, frame);

  it('fill the width exactly, but for the last one', () => {
    for (const { items: placed } of rows.slice(0, -1)) {
      const width = placed.reduce((sum, each) => sum + each.width, 0) + frame.gap * (placed.length - 1);
      expect(width).toBeCloseTo(frame.width);
    }
  });

  it('keep the order and every ratio, and are never higher than asked', () => {
    expect(rows.flatMap((row) => row.items.map(({ item }) => item))).toEqual(items);
    for (const { height, items: placed } of rows) {
      expect(height).toBeLessThanOrEqual(frame.height);
      for (const { item, width } of placed) expect(width / height).toBeCloseTo(item.ratio);
    }
  });

  it('lead up and down to the nearest picture', () => {
    const below = neighbour(rows, items[0] as (typeof items)[0], 1);
    expect(rows[1]?.items[0]?.item).toBe(below);
    expect(neighbour(rows, items[0] as (typeof items)[0], -1)).toBeNull();
  });
});
