/** The parameters of a URL as plain text, so that people can read and write them. */
export type Search = Record<string, string>;

export const parseSearch = (text: string): Search => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  // Commas and colons need no escape in a query, and are easier to read without one.
  return text === '' ? '' : `?${text.replaceAll('%2C', ',').replaceAll('%3A', ':')}`;
}

/** Keeps only the named parameters. `meta.*` stands for all parameters that begin with `meta.`. */
export const pick =
  <Name extends string>(...names: Name[]) =>
  (search: Record<string, unknown>): Partial<Record<Fields<Name>, string>> =>
    Object.fromEntries(
      Object.entries(search).filter(
        ([field, value]) => typeof value === 'string' && names.some((name) => name === field || beginsAs(field, name)),
      ),
    ) as Partial<Record<Fields<Name>, string>>;

/** `meta.*` names the fields `meta.order`, `meta.team` and so on. */
type Fields<Name extends string> = Name extends `${infer Prefix}.*` ? `${Prefix}.${string}` : Name;

const beginsAs = (field: string, name: string): boolean => name.endsWith('.*') && field.startsWith(name.slice(0, -1));
