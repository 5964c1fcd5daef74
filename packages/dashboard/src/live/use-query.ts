import type { TypedDocumentNode } from '@urql/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { run } from '../api/client.ts';
import { asCallError, type CallError } from '../api/errors.ts';
import { useWhenLive } from './use-when-live.ts';
import { whileSeen } from './while-seen.ts';

export interface Reading<Result> {
  data: Result | null;
  error: CallError | null;
  isLoading: boolean;
  reload(): Promise<void>;
}

/**
 * Reads a query. Reads it again when the variables change, and when the page becomes visible again. The old data stays
 * until the new answer arrives.
 * @param variables null: nothing is read
 * @param everyMs how often to read while the page is visible
 */
export function useQuery<Result, Given extends Record<string, unknown>>(
  document: TypedDocumentNode<Result, Given>,
  variables: Given | null,
  { everyMs }: { everyMs?: number } = {},
): Reading<Result> {
  const [state, setState] = useState<Omit<Reading<Result>, 'reload'>>({ data: null, error: null, isLoading: true });
  const [answeredKey, setAnsweredKey] = useState<string | null>(null);
  const latest = useRef(0);
  const key = JSON.stringify(variables);
  const [failedKey, setFailedKey] = useState<string | null>(null);
  const reload = useCallback(async () => {
    if (key === 'null') return;
    const mine = ++latest.current;
    setState((before) => ({ ...before, isLoading: true }));
    try {
      const data = await run(document, JSON.parse(key) as Given);
      if (mine !== latest.current) return;
      setAnsweredKey(key);
      setState({ data, error: null, isLoading: false });
    } catch (error) {
      if (mine !== latest.current) return;
      setFailedKey(key);
      setState((before) => ({ ...before, error: asCallError(error), isLoading: false }));
    }
  }, [document, key]);
  useEffect(() => void reload(), [reload]);
  useEffect(() => whileSeen(() => void reload(), everyMs), [reload, everyMs]);
  // An error of earlier variables is not shown. If the read with the present variables has failed, data of earlier
  // variables is not shown either.
  const error = failedKey === key ? state.error : null;
  const data = error && answeredKey !== key ? null : state.data;
  useWhenLive(() => void reload(), error !== null);
  return { ...state, data, error, reload };
}
