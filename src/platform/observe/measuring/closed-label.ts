/** Replaces a value that is not in the list of `closedLabel`. */
export const OTHER = 'other';

/**
 * Makes a function for a label whose values are a closed list. So nothing that a client or an upstream sends can make a
 * series of its own.
 * @returns a function that returns a value of the list unchanged, and `other` for any other value
 */
export function closedLabel(values: Iterable<string>): (value: string | null | undefined) => string {
  const known = new Set(values);
  return (value) => (value !== null && value !== undefined && known.has(value) ? value : OTHER);
}
