import { useCallback, useEffect, useState } from 'react';
import { run } from '../api/client.ts';
import { KeptNames } from './stars.documents.ts';

/** How many pages of 100 kept tasks are read to collect the names. Older names can still be typed. */
const MAX_PAGES = 10;

/** The names of the collections; empty until they are read. They are read if `isWanted`, and by `reload`. */
export function useCollections(isWanted: boolean): { names: readonly string[]; reload(): void } {
  const [names, setNames] = useState<readonly string[]>([]);
  const reload = useCallback(() => void readNames().then(setNames, () => undefined), []);
  useEffect(() => {
    if (isWanted) reload();
  }, [isWanted, reload]);
  return { names, reload };
}

async function readNames(): Promise<string[]> {
  const names = new Set<string>();
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { tasks }: Awaited<ReturnType<typeof readPage>> = await readPage(after);
    for (const { node } of tasks.edges) {
      for (const { collection } of [node, ...(node.result?.outputs ?? [])]) if (collection) names.add(collection);
    }
    if (!tasks.pageInfo.hasNextPage) break;
    after = tasks.pageInfo.endCursor;
  }
  return [...names].toSorted((one, other) => one.localeCompare(other));
}

const readPage = (after: string | null) => run(KeptNames, { after });
