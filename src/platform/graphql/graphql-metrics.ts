import { CALL_BUCKETS } from '../observe/measuring/buckets.ts';
import { closedLabel } from '../observe/measuring/closed-label.ts';
import { histogram } from '../observe/measuring/declare.ts';
import { statusOf } from './graphql-errors.ts';

const seconds = histogram(
  'darkroom_graphql_operation_duration_seconds',
  'Time of an operation of GraphQL; of a subscription until it is open. A document without a valid operation is `other`.',
  CALL_BUCKETS,
  ['graphql_operation_type', 'outcome'],
);

const typeOf = closedLabel(['query', 'mutation', 'subscription']);

/** Records the time and the outcome of an operation. @param sinceMs when it began, on the monotonic clock */
export function operationEnded(
  type: string | undefined,
  errors: readonly unknown[] | undefined,
  sinceMs: number,
): void {
  const labels = { graphql_operation_type: typeOf(type), outcome: outcomeOf(errors) };
  seconds.observe(labels, (performance.now() - sinceMs) / 1000);
}

function outcomeOf(errors: readonly unknown[] | undefined): 'ok' | 'client_error' | 'server_error' {
  if (!errors || errors.length === 0) return 'ok';
  return errors.some((error) => statusOf(error) >= 500) ? 'server_error' : 'client_error';
}
