/** Renames fields as in GraphQL. Names inside a field stay as they are. */
export const toCamelCase = (request: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(request).map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
