/** Their fields are names that users gave. */
const FREE = new Set(['metadata', 'log_levels', 'input']);

/**
 * Where two values differ in their fields or the types of those. Null stands for any value: what is null depends on the
 * moment.
 */
export function differences(shown: unknown, real: unknown, at = ''): string[] {
  if (shown === null || real === null) return [];
  if (Array.isArray(shown) && Array.isArray(real)) {
    if (shown.length === 0 || real.length === 0) return [];
    return differences(shown[0], real[0], `${at}[]`);
  }
  if (typeof shown !== typeof real) return [`${at} is ${typeof shown} in the example, ${typeof real} in truth`];
  if (typeof shown !== 'object') return [];
  const [one, other] = [shown, real] as Record<string, unknown>[];
  const names = new Set([...Object.keys(one!), ...Object.keys(other!)]);
  return [...names].flatMap((name) => {
    if (FREE.has(name)) return [];
    const path = `${at}.${name}`;
    if (!(name in one!)) return [`${path} is missing in the example`];
    if (!(name in other!)) return [`${path} is only in the example`];
    return differences(one![name], other![name], path);
  });
}
