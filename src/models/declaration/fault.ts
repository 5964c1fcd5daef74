/** What is wrong in a file of a model, and where. */
export interface Fault {
  file: string;
  /** Counts from 1, like the column. */
  line: number;
  column: number;
  /** For example `bindings[1].send.steps`; `file` for a fault of the whole file. */
  path: string;
  message: string;
}

export const textOf = ({ file, line, column, path, message }: Fault): string =>
  `${file}:${line}:${column}: ${path}: ${message}`;

/** The steps to a value: names of fields and indexes of items. */
export type Path = readonly (string | number)[];

export function pathText(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text.replace(/^\./, '') || 'file';
}

/** The most characters of a value that a message repeats. */
const MAX_SHOWN = 80;

/** Describes a value of the file for a message. A text that may be an API key is not shown. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (value === null) return 'nothing';
  if (typeof value === 'object') return 'a map';
  if (typeof value !== 'string') return String(value);
  if (looksLikeKey(value)) return 'this';
  return `"${value.length > MAX_SHOWN ? `${value.slice(0, MAX_SHOWN).toWellFormed()}…` : value}"`;
}

const KEY = /(?:^|[^A-Za-z0-9])(?:sk-|r8_|AIza|Bearer\s+(?!\{\{))[A-Za-z0-9_-]{3}/;

/** Whether a text contains a prefix that vendors give their API keys. */
export const looksLikeKey = (text: string): boolean => KEY.test(text);

/**
 * The known name nearest to a misspelt one: at most two letters apart, or equal without case and separators; undefined
 * if there is none.
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll(/[_-]/g, '');
  const near = known
    .map((each) => ({ each, apart: plain(each) === plain(name) ? 0 : distance(name, each) }))
    .filter(({ apart }) => apart <= 2)
    .toSorted((a, b) => a.apart - b.apart);
  return near[0]?.each;
}

/** The number of letters to add, leave out or change (Levenshtein); 3 if the lengths differ by more than 2. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length]!;
}

/** For example `; did you mean base_url? known are provider, …` */
export function hint(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  const advice = nearest === undefined ? ';' : `; did you mean ${nearest}?`;
  return `${advice} known are ${known.join(', ')}`;
}
