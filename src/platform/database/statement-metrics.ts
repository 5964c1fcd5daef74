import { STATEMENT_BUCKETS } from '../observe/measuring/buckets.ts';
import { closedLabel, OTHER } from '../observe/measuring/closed-label.ts';
import { histogram } from '../observe/measuring/declare.ts';

const seconds = histogram(
  'db_client_operation_duration_seconds',
  'Time of a statement of ours until its answer. Outside of a transaction the wait for a connection is part of it.',
  STATEMENT_BUCKETS,
  ['db_operation_name', 'error_type'],
);

/**
 * Classes of SQLSTATE that our statements can get: refused data, conflicts, resources, an operator, a broken server.
 */
const CLASSES = ['08', '0A', '21', '22', '23', '25', '26', '28', '40', '42', '53', '54', '55', '57', '58', 'XX'];
const classOf = closedLabel(CLASSES);

/**
 * The first word of a name is a constant of the program. The rest depends on what a client asks for, and would make too
 * many series.
 */
const operationOf = (name: string): string => name.split(' ', 1)[0]!;

/**
 * Runs a statement and measures it.
 * @param name the name of a `Statement`
 */
export function measured<Result>(name: string | undefined, run: () => Promise<Result>): Promise<Result> {
  const begunMs = performance.now();
  const record = (error_type?: string): void => {
    const labels = {
      db_operation_name: name === undefined ? OTHER : operationOf(name),
      ...(error_type !== undefined && { error_type }),
    };
    seconds.observe(labels, (performance.now() - begunMs) / 1000);
  };
  const sent = run();
  sent.then(
    () => record(),
    (error: unknown) => record(errorType(error)),
  );
  return sent;
}

/** Errors of the connection have codes of the system, such as ECONNRESET, or none. */
function errorType(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? classOf(code.slice(0, 2)) : 'connection';
}
