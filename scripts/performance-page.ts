import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Writes the tables of docs/performance.md from the files in benchmarks/results. Run it after a benchmark:
 *
 *     npm run bench:page
 *
 * On the page a table is between `<!-- begin http -->` and `<!-- end http -->`. The text outside of these marks is
 * written by hand.
 */

type Row = Record<string, number>;
type Rows = Record<string, Row>;

const PAGE = new URL('../docs/performance.md', import.meta.url);
const RESULTS = new URL('../benchmarks/results/', import.meta.url);

const rates = ({ ratio, work_ratio }: Row) => `${ratio?.toFixed(2)} (${work_ratio?.toFixed(2)})`;

/** For each benchmark with a table, a function that makes the cells of the table. The headings come first. */
const TABLES: Record<string, (rows: Rows) => string[][]> = {
  http: (rows) => spread(rows, /^(.+), (\d+)$/, rates),
  graphql: (rows) => spread(rows, /^(.+), (\d+)$/, rates),
  growth: (rows) => spread(rows, /^(.+): (.+)$/, ({ ratio }) => `${ratio?.toFixed(2)}`),
  pipeline: (rows) => columns(rows, { ratio: 'ratio', service: 'service', baseline: 'BullMQ' }),
  batches: (rows) =>
    columns(rows, { ms: 'ms', slowest_ms: 'slowest', work: 'of processor time', baseline_ms: 'one by one' }),
  pictures: (rows) =>
    columns(rows, {
      'this, ms': 'service, ms',
      'its PostgreSQL, ms': 'of it PostgreSQL',
      'baseline, ms': 'baseline',
      'PSS, MiB': 'PSS, MiB',
    }),
  usage: (rows) =>
    columns(rows, { ms: 'ms', work: 'of processor time', naive_ms: 'baseline', naive_work: 'its processor time' }),
};

/** The page with the tables of the present results. */
export function withTables(page: string): string {
  return page.replace(/(<!-- begin ([\w-]+) -->)[^]*?(<!-- end \2 -->)/g, (_, begin, name, end) => {
    return `${begin}\n\n${tableOf(name)}\n\n${end}`;
  });
}

export const pageText = (): string => readFileSync(PAGE, 'utf8');

export const benchmarksWithTables = (): string[] => Object.keys(TABLES);

function tableOf(name: string): string {
  const result = JSON.parse(readFileSync(new URL(`${name}.json`, RESULTS), 'utf8'));
  const cells = TABLES[name];
  if (!cells) throw new Error(`scripts/performance-page.ts knows no table of ${name}.`);
  const from = `Commit ${result.commit}, ${result.date.slice(0, 10)}.`;
  return `${aligned(cells(result.rows))}\n\n${from}`;
}

/** A table with one row for each row of the results. */
function columns(rows: Rows, headings: Record<string, string>): string[][] {
  const cellsOf = (row: Row) => Object.keys(headings).map((key) => figure(row[key]));
  return [['', ...Object.values(headings)], ...Object.entries(rows).map(([name, row]) => [name, ...cellsOf(row)])];
}

/**
 * Rows whose names differ only in their second part become one row, with a column for each second part. The value of a
 * name without a second part is in the last column.
 */
function spread(rows: Rows, name: RegExp, cell: (row: Row) => string): string[][] {
  const named = Object.entries(rows).map(([text, row]) => ({ parts: name.exec(text), text, row }));
  const headings = [...new Set(named.flatMap(({ parts }) => parts?.[2] ?? []))];
  const lines = new Map<string, string[]>();
  for (const { parts, text, row } of named) {
    const line = parts?.[1] ?? text;
    const cells = lines.get(line) ?? headings.map(() => '');
    cells[parts ? headings.indexOf(parts[2] as string) : headings.length - 1] = cell(row);
    lines.set(line, cells);
  }
  return [['', ...headings], ...[...lines].map(([line, cells]) => [line, ...cells])];
}

const figure = (value: number | undefined): string =>
  value === undefined ? '' : Number(value.toPrecision(3)).toLocaleString('en-US');

/** A Markdown table, formatted as prettier does it. */
function aligned(cells: string[][]): string {
  const widths = cells[0]!.map((_, at) => Math.max(3, ...cells.map((line) => line[at]!.length)));
  const lineOf = (line: string[]) => `| ${line.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`;
  return [lineOf(cells[0]!), lineOf(widths.map((width) => '-'.repeat(width))), ...cells.slice(1).map(lineOf)].join(
    '\n',
  );
}

if (import.meta.main) writeFileSync(PAGE, withTables(pageText()));
