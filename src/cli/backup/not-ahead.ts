/**
 * Refuses a target with newer migrations than the source: rows of an older version lack what these do to rows.
 * @throws Error for the operator
 */
export function assertNotAhead(target: readonly string[], source: readonly string[]): void {
  const ahead = target.filter((name) => !source.includes(name));
  if (ahead.length === 0) return;
  throw new Error(`The database is newer than the rows: it has the migration ${ahead[0]}. Take a new one.`);
}
