import type { TadaDocumentNode } from 'gql.tada';
import { useEffect, useEffectEvent } from 'react';
import { subscribe } from './socket.ts';

/** Pause before a subscription that ended is started again. */
const RETRY_MS = 2_000;
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
    let stop: () => void = () => undefined;
    let retry: ReturnType<typeof setTimeout> | undefined;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const news = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined;
        tell();
      }, GATHER_MS);
    };
    const start = (isAgain: boolean) => {
      if (isAgain) news();
      const ended = () => (retry = setTimeout(() => start(true), RETRY_MS));
      stop = subscribe(document, JSON.parse(key) as Given, { open: () => undefined, next: news, ended });
    };
    start(false);
    return () => {
      clearTimeout(retry);
      clearTimeout(gathering);
      stop();
    };
  }, [document, key]);
}
