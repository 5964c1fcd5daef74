/**
 * The status of a row found by its id, so written that no partial index of tasks in some state offers itself: the planner
 * would read all the queued ones for it, which costs nothing while it learns and everything when 100,000 are queued.
 */
export const hiddenStatus = (row: string): string => `(${row}.status || '')`;
