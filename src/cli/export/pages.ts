interface Page<Item> {
  items: Item[];
  hasMore: boolean;
}

/** Yields a whole list, with one page at a time in memory. The cursor is the id of the last item. */
export async function* pages<Item extends { id: string }>(
  read: (after?: string) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  for (let after: string | undefined; ;) {
    const { items, hasMore }: Page<Item> = await read(after);
    yield* items;
    after = items.at(-1)?.id ?? after;
    if (!hasMore) return;
  }
}
