import type { TadaDocumentNode } from 'gql.tada';
import { useEffect, useEffectEvent } from 'react';
import { follow, gathered } from './follow.ts';

/**
 * Calls `onChange` soon after events, so that the caller reads its list again. Also calls it after an interruption,
 * because an event may have been missed.
 */
export function useChanges<Given extends Record<string, unknown>>(
  document: TadaDocumentNode<unknown, Given>,
  variables: Given,
  onChange: () => void,
): void {
  const tell = useEffectEvent(onChange);
  const key = JSON.stringify(variables);
  useEffect(() => {
    const [news, forget] = gathered(() => tell());
    const stop = follow(document, JSON.parse(key) as Given, { next: news, again: news });
    return () => {
      forget();
      stop();
    };
  }, [document, key]);
}
