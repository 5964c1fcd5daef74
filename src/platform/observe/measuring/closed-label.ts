/** Replaces a value that is not in the list of `closedLabel`. */
export const OTHER = 'other';

/**
 * The values of a label are a closed list, so that nothing a client or an upstream sends can make a series of its own.
 * @returns the value itself if the list has it, else `other`
 */
export function closedLabel(values: Iterable<string>): (value: string | null | undefined) => string {
  const known = new Set(values);
  return (value) => (value !== null && value !== undefined && known.has(value) ? value : OTHER);
}
