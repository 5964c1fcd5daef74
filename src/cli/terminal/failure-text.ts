import { ConnectionError, DarkroomError, TaskFailedError, WaitTimeoutError } from '@darkroom/client';

/** What to do about an error, where its message does not say it. */
const ADVICE: Readonly<Record<string, string>> = {
  connection_failed: 'Start the service, or name its address with --url or DARKROOM_URL.',
  missing_api_key: 'Set DARKROOM_API_KEY.',
  invalid_api_key: 'Set DARKROOM_API_KEY to a key of this service; `npx darkroom keys create` makes one.',
  api_key_revoked: '`npx darkroom keys create` makes another key.',
  api_key_expired: '`npx darkroom keys create` makes another key.',
  insufficient_scope: '`npx darkroom keys update <id> --scopes …` gives the key more scopes.',
  budget_exceeded: '`npx darkroom usage` shows what was spent.',
  model_not_found: '`npx darkroom models` lists the models.',
  task_not_found: '`npx darkroom tasks list` lists the tasks of this key.',
  rate_limit_exceeded: 'Try again later.',
  queue_full: 'Try again when some of your tasks have ended.',
};

/** The error for a terminal. For an error of the service: its code, the field at fault, its message, and what to do. */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof DarkroomError) return ofService(error);
  if (error instanceof TaskFailedError) {
    return error.message + (error.retryable ? ` It may succeed: npx darkroom tasks retry ${error.task.task_id}` : '');
  }
  if (error instanceof WaitTimeoutError) return `${error.message} Wait again: npx darkroom tasks wait ${error.id}`;
  // Node rejects with an empty AggregateError if both addresses of localhost refuse the connection.
  if (error instanceof AggregateError && !error.message) return error.errors.map(failureText).join('; ');
  const cause = error.cause === undefined || error.name === 'ApiError' ? '' : failureText(error.cause);
  return error.message.includes(cause) ? error.message : `${error.message} (${cause})`;
}

function ofService(error: DarkroomError): string {
  const { code, param, message, errors } = error;
  const what = error instanceof ConnectionError ? message : `${code}${param === null ? '' : ` (${param})`}: ${message}`;
  const items = errors.slice(0, 3).map(({ index, code, message }) => `Item ${index}: ${code}: ${message}`);
  return [what, ...items, ADVICE[code]].filter(Boolean).join(' ');
}
