const STEP = /\.([A-Za-z0-9_-]{1,64})|\[([0-9]{1,3}|\*)\]/g;

/** The values at a path such as `$.data[*].url`, without null. Empty if the path leads nowhere. */
export function valuesAt(json: unknown, path: string): unknown[] {
  let values = [json];
  for (const [, name, index] of path.matchAll(STEP)) {
    values = values.flatMap((value) => {
      if (index === '*') return Array.isArray(value) ? value : [];
      if (index !== undefined)
        return Array.isArray(value) && Number(index) < value.length ? [value[Number(index)]] : [];
      const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
      return isMap && Object.hasOwn(value, name!) ? [(value as Record<string, unknown>)[name!]] : [];
    });
  }
  return values.filter((value) => value !== undefined && value !== null);
}

/** The first value at a path, as text; undefined if there is none, or if it is neither a text nor a number. */
export function textAt(json: unknown, path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const [value] = valuesAt(json, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
