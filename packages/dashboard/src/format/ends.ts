const HOUR = 3_600;
const DAY = 86_400;
/** How long before its deletion a file is marked. */
const NEAR_S = 2 * DAY;

/** `Deleted in 2 days`, `Deleted in 5 hours`, `Deleted in 9 min`; null: later, never, or already deleted. */
export function endWords(filesUntil: number, now: number): string | null {
  const left = filesUntil - now;
  if (filesUntil === 0 || left <= 0 || left > NEAR_S) return null;
  if (left > 1.5 * DAY) return 'Deleted in 2 days';
  if (left >= 2 * HOUR) return `Deleted in ${Math.floor(left / HOUR)} hours`;
  return `Deleted in ${Math.ceil(left / 60)} min`;
}
