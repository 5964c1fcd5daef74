/**
 * Maps items, with up to `limit` concurrent calls of `work`. Yields results in the order in which the calls finish.
 * Throws the first failure, once the other calls in flight have settled.
 */
export async function* mapConcurrently<Item, Result>(
  items: AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const running = new Map<number, Promise<{ nth: number; result: Result }>>();
  let nth = 0;
  try {
    for await (const item of items) {
      const mine = nth++;
      const done = work(item).then((result) => ({ nth: mine, result }));
      done.catch(() => undefined); // it may fail while the next item is awaited; `first` throws the failure later
      running.set(mine, done);
      if (running.size < limit) continue;
      yield await first(running);
    }
    while (running.size > 0) yield await first(running);
  } finally {
    await Promise.allSettled(running.values());
  }
}

async function first<Result>(running: Map<number, Promise<{ nth: number; result: Result }>>): Promise<Result> {
  const { nth, result } = await Promise.race(running.values());
  running.delete(nth);
  return result;
}
