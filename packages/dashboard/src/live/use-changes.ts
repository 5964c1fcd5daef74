import type { TadaDocumentNode } from 'gql.tada';
import { useEffect, useEffectEvent } from 'react';
import { follow } from './follow.ts';

/** Changes within this time cause one call. */
const GATHER_MS = 250;

/**
 * Calls `onChange` after something was sent, and after an interruption, when something may have been missed. For lists
 * that are read again.
 */
export function useChanges<Given extends Record<string, unknown>>(
  document: TadaDocumentNode<unknown, Given>,
  variables: Given,
  onChange: () => void,
): void {
  const tell = useEffectEvent(onChange);
  const key = JSON.stringify(variables);
  useEffect(() => {
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const news = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        tell();
      }, GATHER_MS);
    };
    const stop = follow(document, JSON.parse(key) as Given, { next: news, again: news });
    return () => {
      clearTimeout(gathering);
      stop();
    };
  }, [document, key]);
}
