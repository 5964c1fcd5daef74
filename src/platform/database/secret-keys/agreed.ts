/** A living process has noted its key within this time, even if one of its notes failed. */
const OTHERS_COUNT_S = 90;

/**
 * SQL: whether all processes have this key as their newest. Only then may a statement encrypt or hash rows again with
 * this key: a process without the key could no longer read the rows. Processes with the same keys in another order
 * would rewrite the rows for ever, each with its own newest key.
 * @param keyId a parameter of the statement, such as `$1`
 */
export const isAgreed = (keyId: string): string =>
  `not exists (select from secret_keys other where other.id <> ${keyId} and other.newest_at > now() - interval '${OTHERS_COUNT_S} seconds')`;
