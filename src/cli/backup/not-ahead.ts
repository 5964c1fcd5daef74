/**
 * Refuses a target with migrations that the source lacks. Such a migration may have changed rows, and the rows of the
 * source would come without that change.
 * @throws Error for the operator
 */
export function assertNotAhead(target: readonly string[], source: readonly string[]): void {
  const ahead = target.filter((name) => !source.includes(name));
  if (ahead.length === 0) return;
  throw new Error(`The database is newer than the rows: it has the migration ${ahead[0]}. Take a new one.`);
}
