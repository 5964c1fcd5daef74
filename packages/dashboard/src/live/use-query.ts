import type { TypedDocumentNode } from '@urql/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { run } from '../api/client.ts';
import { asCallError, type CallError } from '../api/errors.ts';
import { useWhenLive } from './use-when-live.ts';

export interface Reading<Result> {
  data: Result | null;
  error: CallError | null;
  isLoading: boolean;
  reload(): Promise<void>;
}

/**
 * Reads a query, and again when the variables change; null reads nothing. The old data stays until the new answer
 * arrives.
 */
export function useQuery<Result, Given extends Record<string, unknown>>(
  document: TypedDocumentNode<Result, Given>,
  variables: Given | null,
): Reading<Result> {
  const [state, setState] = useState<Omit<Reading<Result>, 'reload'>>({ data: null, error: null, isLoading: true });
  const latest = useRef(0);
  const key = JSON.stringify(variables);
  const [failedKey, setFailedKey] = useState<string | null>(null);
  const reload = useCallback(async () => {
    if (key === 'null') return;
    const mine = ++latest.current;
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const data = await run(document, JSON.parse(key) as Given);
      if (mine === latest.current) setState({ data, error: null, isLoading: false });
    } catch (error) {
      if (mine !== latest.current) return;
      setFailedKey(key);
      setState((before) => ({ ...before, error: asCallError(error), isLoading: false }));
    }
  }, [document, key]);
  useEffect(() => void reload(), [reload]);
  // A fault of other variables says nothing about these.
  const error = failedKey === key ? state.error : null;
  useWhenLive(() => void reload(), error !== null);
  return { ...state, error, reload };
}
