/** A picture, with its width in the row. */
export interface Placed<Item> {
  item: Item;
  width: number;
}

export interface Row<Item> {
  items: Placed<Item>[];
  height: number;
}

interface Frame {
  width: number;
  /** The greatest height of a row, in pixels. */
  height: number;
  gap: number;
}

/**
 * Fills rows from side to side. In rows, unlike columns, the reading order is the order of the page, so arrows, Tab and
 * screen readers agree. The last row is not stretched, because it may not be full.
 */
export function justifiedRows<Item extends { ratio: number }>(items: readonly Item[], frame: Frame): Row<Item>[] {
  const rows: Row<Item>[] = [];
  let row: Item[] = [];
  for (const item of items) {
    row.push(item);
    const height = heightOf(row, frame);
    if (height > frame.height) continue;
    rows.push(placed(row, height));
    row = [];
  }
  if (row.length > 0) rows.push(placed(row, Math.min(frame.height, heightOf(row, frame))));
  return rows;
}

/** The height at which the pictures fill the width of the row. */
function heightOf(items: readonly { ratio: number }[], { width, gap }: Frame): number {
  const ratios = items.reduce((sum, { ratio }) => sum + ratio, 0);
  return (width - gap * (items.length - 1)) / ratios;
}

const placed = <Item extends { ratio: number }>(items: Item[], height: number): Row<Item> => ({
  height,
  items: items.map((item) => ({ item, width: item.ratio * height })),
});

/**
 * The item whose middle is nearest to that of `from`, in the row that is `by` rows below (above, if negative); null:
 * there is no such row. A jump of more than one row stops at the first or last row.
 */
export function neighbour<Item>(rows: readonly Row<Item>[], from: Item, by: number): Item | null {
  const at = rows.findIndex(({ items }) => items.some(({ item }) => item === from));
  const to = Math.abs(by) === 1 ? at + by : Math.min(rows.length - 1, Math.max(0, at + by));
  const target = rows[to];
  const middle = middles(rows[at]).find(({ item }) => item === from)?.x ?? 0;
  const nearest = middles(target).toSorted((a, b) => Math.abs(a.x - middle) - Math.abs(b.x - middle))[0];
  return nearest?.item ?? null;
}

function middles<Item>(row: Row<Item> | undefined): { item: Item; x: number }[] {
  let left = 0;
  return (row?.items ?? []).map(({ item, width }) => {
    const x = left + width / 2;
    left += width;
    return { item, x };
  });
}
