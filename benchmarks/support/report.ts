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

/** Prints the rows and writes them with date, commit and machine to benchmarks/results/. */
export async function report(name: string, rows: Record<string, object>, notes: object = {}): Promise<void> {
  console.table(rows);
  const folder = new URL('../results/', import.meta.url);
  await mkdir(folder, { recursive: true });
  const about = { date: new Date().toISOString(), commit: commit(), machine: machine(), ...notes };
  await writeFile(new URL(`${name}.json`, folder), `${JSON.stringify({ ...about, rows }, null, 2)}\n`);
}

const commit = (): string => execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
const machine = (): string => `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}`;
