/** Maximum number of deletions at the same time. A distant storage answers each after 50 ms or more. */
const DELETES_AT_ONCE = 32;

/**
 * Calls `remove` with each item, up to 32 at a time.
 * @throws the first error of `remove`
 */
export async function deleteEach<Item>(
  items: readonly Item[],
  remove: (item: Item) => Promise<unknown>,
): Promise<void> {
  const waiting = items.values(); // shared, so each item is taken once
  const deleteNext = async (): Promise<void> => {
    for (const item of waiting) await remove(item);
  };
  await Promise.all(Array.from({ length: DELETES_AT_ONCE }, deleteNext));
}
