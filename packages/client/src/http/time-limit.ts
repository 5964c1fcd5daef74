export interface TimeLimit {
  /** Aborts when the time is over, or when the caller's own signal aborts. */
  readonly signal: AbortSignal;
  /** Whether the caller's own signal has aborted. */
  isCallers(): boolean;
  /** Ends the limit: the rest of the answer may take any time. */
  stop(): void;
}

export function timeLimit(ms: number, callers?: AbortSignal): TimeLimit {
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(new DOMException(`No answer within ${ms} ms.`, 'TimeoutError')), ms);
  return {
    signal: callers ? AbortSignal.any([callers, clock.signal]) : clock.signal,
    isCallers: () => callers?.aborted ?? false,
    stop: () => clearTimeout(timer),
  };
}
