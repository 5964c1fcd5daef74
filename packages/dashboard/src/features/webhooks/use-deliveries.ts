import { useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError, type CallError } from '../../api/errors.ts';
import { useChanges } from '../../live/use-changes.ts';
import { useQuery } from '../../live/use-query.ts';
import { type DeliverySearch, deliveryFilterOf } from './delivery-search.ts';
import { Deliveries, Delivered, type Delivery } from './webhooks.documents.ts';

interface Older {
  /** The filter with which these deliveries were read. */
  key: string;
  deliveries: Delivery[];
  cursor: string | null;
}

/**
 * The log of an endpoint. Its newest page follows the attempts live; older pages are read when the user asks for them.
 */
export function useDeliveries(endpointId: string, search: DeliverySearch) {
  const filter = deliveryFilterOf(search);
  const key = JSON.stringify(filter);
  const { data, error, reload } = useQuery(Deliveries, { endpointId, filter, after: null });
  const [older, setOlder] = useState<Older | null>(null);
  const [fault, setFault] = useState<CallError | null>(null);
  useChanges(Delivered, { endpointId }, () => void reload());

  const newest = data?.webhookDeliveries;
  const shown = newest?.edges.map(({ node }) => node) ?? [];
  const known = new Set(shown.map(({ id }) => id));
  const pages = older?.key === key ? older : null;
  // Deliveries that leave the newest page join the older ones. If the newest page has no delivery in common with the
  // one read before, deliveries between the two may be missing. Then, and under another filter, the older ones are
  // dropped, and read again when the user asks for them.
  const [last, setLast] = useState({ key, newest, shown });
  if (newest !== last.newest) {
    setLast({ key, newest, shown });
    const left = last.shown.filter(({ id }) => !known.has(id));
    const isNext = last.key === key && left.length < last.shown.length;
    const isIn = new Set(pages?.deliveries.map(({ id }) => id));
    const joined = left.filter(({ id }) => !isIn.has(id));
    setOlder(pages && isNext ? { ...pages, deliveries: [...joined, ...pages.deliveries] } : null);
  }
  const cursor = pages ? pages.cursor : newest?.pageInfo.hasNextPage ? newest.pageInfo.endCursor : null;

  async function more(): Promise<void> {
    try {
      const next = (await run(Deliveries, { endpointId, filter, after: cursor })).webhookDeliveries;
      const added = next.edges.map(({ node }) => node);
      const end = next.pageInfo.hasNextPage ? next.pageInfo.endCursor : null;
      // The newest page as it was before this read is kept too, because new deliveries may have pushed some of it out.
      setOlder((now) => ({
        key,
        deliveries: now?.key === key ? [...now.deliveries, ...added] : [...shown, ...added],
        cursor: end,
      }));
      setFault(null);
    } catch (caught) {
      setFault(asCallError(caught));
    }
  }

  return {
    deliveries: newest ? [...shown, ...(pages?.deliveries ?? []).filter(({ id }) => !known.has(id))] : null,
    error: error ?? fault,
    hasMore: cursor !== null,
    more,
    reload,
  };
}
