/** The error for a terminal: its message and those of its causes, without a stack. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node rejects with an empty AggregateError if both addresses of localhost refuse the connection.
  if (error instanceof AggregateError && !error.message) return error.errors.map(failureText).join('; ');
  const cause = error.cause === undefined || error.name === 'ApiError' ? '' : ` (${failureText(error.cause)})`;
  return error.message + cause;
}
