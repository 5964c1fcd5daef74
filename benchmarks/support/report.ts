import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * Prints the rows and writes them to benchmarks/results/ as JSON and as Markdown, with date, commit and machine.
 * @param notes how it was measured
 */
export async function report(name: string, rows: Record<string, object>, notes: object = {}): Promise<void> {
  console.table(rows);
  const folder = new URL('../results/', import.meta.url);
  await mkdir(folder, { recursive: true });
  const about = { date: new Date().toISOString(), commit: commit(), machine: machine(), ...notes };
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify({ ...about, rows }, null, 2)}\n`);
  await writeFile(new URL(`${name}.md`, folder), `# ${name}\n\n${list(about)}\n\n${table(rows)}\n`);
}

const list = (about: object): string =>
  Object.entries(about)
    .map(([key, value]) => `- ${key}: ${value}`)
    .join('\n');

function table(rows: Record<string, object>): string {
  const columns = [...new Set(Object.values(rows).flatMap((row) => Object.keys(row)))];
  const line = (cells: unknown[]) => `| ${cells.join(' | ')} |`;
  const cellsOf = (row: object) => columns.map((column) => (row as Record<string, unknown>)[column] ?? '');
  return [
    line(['', ...columns]),
    line(['---', ...columns.map(() => '---')]),
    ...Object.entries(rows).map(([name, row]) => line([name, ...cellsOf(row)])),
  ].join('\n');
}

const commit = (): string => execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const machine = (): string => `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`;
