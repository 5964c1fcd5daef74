import type { TypedDocumentNode } from '@urql/core';
import { useState } from 'react';
import { type Reading, useQuery } from './use-query.ts';

interface PageInfo {
  hasNextPage: boolean;
  endCursor: string | null;
}

/** The properties of `Pager` that lead to the other pages. */
interface Turns {
  isReading: boolean;
  onNewer: (() => void) | null;
  onOlder: (() => void) | null;
}

/**
 * One page of a list, newest first, and the way to the other pages. Other variables lead to the first page again.
 * @param asked the variables without `after`; null: nothing is read
 */
export function usePages<Result, Given extends { after?: string | null }>(
  document: TypedDocumentNode<Result, Given>,
  asked: Omit<Given, 'after'> | null,
  infoOf: (data: Result) => PageInfo,
): Reading<Result> & { pager: Turns } {
  const key = JSON.stringify(asked);
  const [place, setPlace] = useState<{ key: string; cursors: readonly string[] }>({ key, cursors: [] });
  const cursors = place.key === key ? place.cursors : [];
  const reading = useQuery(document, asked && ({ ...asked, after: cursors.at(-1) ?? null } as unknown as Given));
  const info = reading.data && infoOf(reading.data);
  const next = info?.hasNextPage ? info.endCursor : null;
  // If the next page could not be read, the previous page is still shown. It ends at the cursor of the failed page.
  const hasFailed = next !== null && next === cursors.at(-1);
  const turn = (to: readonly string[]) => () => setPlace({ key, cursors: to });
  return {
    ...reading,
    pager: {
      isReading: reading.isLoading,
      onNewer: cursors.length > 0 ? turn(cursors.slice(0, -1)) : null,
      onOlder: next === null ? null : hasFailed ? () => void reading.reload() : turn([...cursors, next]),
    },
  };
}
