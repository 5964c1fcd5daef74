/** What went wrong in one line or a few, without a stack: whoever reads it sits at a terminal. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A refused connection to both of localhost's addresses has no message of its own.
  if (error instanceof AggregateError && !error.message) return error.errors.map(failureText).join('; ');
  const cause = error.cause === undefined || error.name === 'ApiError' ? '' : ` (${failureText(error.cause)})`;
  return error.message + cause;
}
