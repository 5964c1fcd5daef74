export interface TimeLimit {
  /** Aborts when the time is over, and when the caller's own signal does. */
  readonly signal: AbortSignal;
  /** Whether it was the caller who aborted. */
  isCallers(): boolean;
  /** What has begun may take any time from now on. */
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
