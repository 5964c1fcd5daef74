/**
 * A TypeID without its prefix: 26 characters of base32. The first is at most 7, because 26 times 5 bits exceed 128 bits
 * by 2.
 */
export const TYPE_ID_SUFFIX = '[0-7][0-9a-hjkmnp-tv-z]{25}';

/** Matches the TypeIDs of one prefix, such as `task_01jd8e5t9kf3qs7m2v4xw6yzab`. */
export const typeIdPattern = (prefix: string): RegExp => new RegExp(`^${prefix}_${TYPE_ID_SUFFIX}$`);

/**
 * Makes the test for TypeIDs of one prefix. The test refuses malformed ids, such as an id with a NUL, before the
 * database gets them.
 */
export function typeIdTest(prefix: string): (text: string) => boolean {
  const pattern = typeIdPattern(prefix);
  return (text) => pattern.test(text);
}
