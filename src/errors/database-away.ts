/**
 * SQLSTATE codes of errors after which a retry may succeed: connection lost, out of resources, shutdown, failover,
 * timeouts, conflicts between transactions.
 */
const TRANSIENT_STATES = /^(?:08...|53...|57P0.|57014|25006|40001|40P01|55P03)$/;
const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** The first words of errors without a code, in pg 8.11 to 8.23. */
const PG_MESSAGES = [
  'timeout exceeded when trying to connect',
  'Connection terminated',
  'terminating connection',
  'Client has encountered a connection error',
  'Cannot use a pool after calling end',
  'Query read timeout',
  // TypeORM's messages when the connection broke between two statements of a transaction
  'Query runner already released',
  'Database connection provided by a query runner was already released',
];
/** Drivers wrap an error once or twice. The limit ends a chain of causes that is a cycle. */
const MAX_WRAPPERS = 5;

/**
 * Whether the error is a transient one of the database, so that a retry may succeed. Network errors of the file storage
 * have the same codes, and count too.
 */
export function isDatabaseAway(thrown: unknown): boolean {
  let error = thrown;
  for (let wrapper = 0; wrapper < MAX_WRAPPERS && isObject(error); wrapper++) {
    const { code, message, driverError, cause } = error;
    if (typeof code === 'string' && (SYSTEM_CODES.has(code) || TRANSIENT_STATES.test(code))) return true;
    if (typeof message === 'string' && PG_MESSAGES.some((known) => message.startsWith(known))) return true;
    error = driverError ?? cause;
  }
  return false;
}

/** Not `instanceof Error`, which is false for an error of another realm. */
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
