/** The columns of the rows that a statement is given, by name, with their types. */
export type ColumnTypes = Readonly<Record<string, string>>;

/** SQL: as `json_to_recordset` takes them. */
export const definitionsOf = (columns: ColumnTypes): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

/**
 * SQL: a query for the rows of `toArrays`, whose parameters begin with the number `first`. PostgreSQL reads 32 new
 * tasks from arrays in 3.9 us each; from JSON it takes 8, and by `unnest` 7. It walks to an element of text from the
 * beginning of its array. So this is for some hundred rows: with 200 it still takes 4.4 us instead of 9.
 */
export function rowsOfArrays(columns: ColumnTypes, first: number): string {
  const parameters = Object.entries(columns).map(([name, type], at) => ({ name, array: `$${first + at}::${type}[]` }));
  const values = parameters.map(({ name, array }) => `(${array})[at] as ${name}`);
  return `select ${values.join(', ')} from generate_series(1, cardinality(${parameters[0]!.array})) as at`;
}

/**
 * The parameters of `rowsOfArrays`: a literal of an array for each column, or null where no row has it.
 * @param rows all have the first column
 */
export function toArrays<Row extends object>(columns: ColumnTypes, rows: readonly Row[]): (string | null)[] {
  return Object.keys(columns).map((name) => toArray(rows, name as keyof Row));
}

function toArray<Row extends object>(rows: readonly Row[], name: keyof Row): string | null {
  if (rows.every((row) => isAbsent(row[name]))) return null;
  let elements = '';
  for (const row of rows) elements += `${elements && ','}${elementOf(row[name])}`;
  return `{${elements}}`;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function elementOf(value: unknown): string {
  if (typeof value === 'string') return SPECIAL.test(value) ? escaped(value) : `"${value}"`;
  if (isAbsent(value)) return 'NULL';
  return typeof value === 'object' ? escaped(JSON.stringify(value)) : String(value);
}

/** Without control characters JSON escapes what an array does, in a quarter of the time. */
const escaped = (text: string): string =>
  CONTROL.test(text) ? `"${text.replaceAll(/["\\]/g, '\\$&')}"` : JSON.stringify(text);

const SPECIAL = /["\\]/;
// oxlint-disable-next-line no-control-regex -- it looks for them
const CONTROL = /[\u0000-\u001f]/;
