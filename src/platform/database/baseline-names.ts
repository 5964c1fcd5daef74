/** The first migration of this program. It makes what 37 others had made. */
export const BASELINE = 'Baseline1700000000043';
const LAST_REPLACED = 'NoChecksOfTasks1700000000043';
const NUMBER = 1_700_000_000_043;

const isReplaced = (name: string): boolean => name !== BASELINE && Number(/\d+$/.exec(name)?.[0]) <= NUMBER;

/**
 * @param names of the migrations that a database has had, or the one of a backup
 * @returns them, with the baseline in place of those that it replaces
 * @throws Error for the operator if it has not had all of those
 */
export function sinceBaseline(names: readonly string[]): string[] {
  const later = names.filter((name) => !isReplaced(name));
  if (later.length === names.length || later.includes(BASELINE)) return later;
  if (!names.includes(LAST_REPLACED)) {
    throw new Error(
      `The database is of a pre-release before the migration ${LAST_REPLACED}. Start the last pre-release once, then this version.`,
    );
  }
  return [BASELINE, ...later];
}
