/** A process that is alive has noted its key by then, also if one of its notes failed. */
const OTHERS_COUNT_S = 90;

/**
 * For the statements that move rows to the newest SECRET_KEY: whether all processes have this key as their newest. A
 * process that does not have it yet could not read the rows any more. Processes with the same keys in another order
 * would move them back and forth.
 * @param keyId a parameter of the statement
 */
export const isAgreed = (keyId: string): string =>
  `not exists (select from secret_keys other where other.id <> ${keyId} and other.newest_at > now() - interval '${OTHERS_COUNT_S} seconds')`;
