import type { TadaDocumentNode } from 'gql.tada';
import { subscribe } from './socket.ts';

/** The pause before a subscription that has ended is started again. */
const RETRY_MS = 2_000;

/** Calls within this time are gathered into one. */
const GATHER_MS = 250;

/** @returns a function that calls `act` once for several calls, and a function that drops the pending call */
export function gathered(act: () => void): [gather: () => void, stop: () => void] {
  let gathering: ReturnType<typeof setTimeout> | undefined;
  const gather = () => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      act();
    }, GATHER_MS);
  };
  return [gather, () => clearTimeout(gathering)];
}

interface Follower<Result> {
  next(result: Result): void;
  ended?(): void;
  /** Called when the subscription is started again, and once it is open, because events may have been missed. */
  again?(): void;
}

/** A subscription that starts again after an interruption, until the returned function is called. */
export function follow<Result, Given extends Record<string, unknown>>(
  document: TadaDocumentNode<Result, Given>,
  variables: Given,
  { next, ended, again }: Follower<Result>,
): () => void {
  let retry: ReturnType<typeof setTimeout> | undefined;
  const start = (isAgain = false) =>
    subscribe(document, variables, {
      open: () => isAgain && again?.(), // events may have come since the last read
      next,
      ended: () => {
        ended?.();
        retry = setTimeout(() => {
          stop = start(true);
          again?.(); // reads may be answered even if the socket is refused
        }, RETRY_MS);
      },
    });
  let stop = start();
  return () => {
    clearTimeout(retry);
    stop();
  };
}
