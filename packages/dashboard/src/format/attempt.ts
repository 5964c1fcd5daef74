interface Attempt {
  statusCode: number | null;
  durationMs: number | null;
  attemptedAt: number | null;
}

/** What a receiver answered: `200 in 84 ms`, `503 in 3 ms`, `No answer`; `Waiting` before the attempt. */
export function attemptWords({ statusCode, durationMs, attemptedAt }: Attempt): string {
  if (!attemptedAt) return 'Waiting';
  if (statusCode === null) return 'No answer';
  return durationMs === null ? String(statusCode) : `${statusCode} in ${durationMs} ms`;
}
