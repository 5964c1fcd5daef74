/**
 * The first migration that this program has. It replaces 37 migrations of pre-releases, which created the same tables
 * step by step.
 */
export const BASELINE = 'Baseline1700000000043';
const LAST_REPLACED = 'NoChecksOfTasks1700000000043';
const NUMBER = 1_700_000_000_043;

const isReplaced = (name: string): boolean => name !== BASELINE && Number(/\d+$/.exec(name)?.[0]) <= NUMBER;

/**
 * @param names the names of the migrations that ran in a database, or in the database of a backup
 * @returns the names, with the baseline in place of the migrations that it replaces
 * @throws Error for the operator if some of the replaced migrations did not run
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
