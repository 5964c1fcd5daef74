import type { CallOptions, Transport } from './http/transport.ts';

interface Page<Item> {
  data: Item[];
  has_more: boolean;
  last_id: string | null;
}

/** A list. `for await` reads page after page; `first()` reads only the first page. */
export interface Pages<Item> extends AsyncIterable<Item> {
  first(): Promise<Page<Item>>;
}

/** @param query may contain `limit`, the size of one page, not of the whole list */
export function pages<Item>(
  transport: Transport,
  path: string,
  query: object = {},
  options: CallOptions = {},
): Pages<Item> {
  const page = (after?: string) =>
    transport.json<Page<Item>>('GET', path, { ...options, query: { ...query, ...(after && { after }) } });
  return {
    first: () => page(),
    async *[Symbol.asyncIterator]() {
      for (let after: string | undefined; ;) {
        const { data, has_more, last_id } = await page(after);
        yield* data;
        if (!has_more || last_id === null) return;
        after = last_id;
      }
    },
  };
}
