const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * Renames fields as in GraphQL. A model's own parameters, `x_…`, keep their names and move into the field `extra`.
 * Names inside a field stay as they are.
 */
export function toCamelCase(request: Record<string, unknown>): Record<string, unknown> {
  const fields = Object.entries(request);
  const own = fields.filter(([name]) => name.startsWith('x_'));
  return {
    ...Object.fromEntries(
      fields.filter((field) => !own.includes(field)).map(([name, value]) => [camelCase(name), value]),
    ),
    ...(own.length > 0 && { extra: Object.fromEntries(own) }),
  };
}
