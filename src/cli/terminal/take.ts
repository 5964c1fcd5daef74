export async function take<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = [];
  if (count === 0) return taken;
  for await (const item of items) if (taken.push(item) >= count) break;
  return taken;
}
