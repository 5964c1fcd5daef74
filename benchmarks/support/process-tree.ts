import { readdirSync, readFileSync } from 'node:fs';

/** @returns the ids of the given processes that still run, with all their children; none on systems other than Linux */
export function processTree(...pids: number[]): number[] {
  const parents = parentOf();
  const belongs = (pid: number): boolean => pids.includes(pid) || (parents.has(pid) && belongs(parents.get(pid)!));
  return [...parents.keys()].filter(belongs);
}

function parentOf(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const pid of numbersIn('/proc')) {
    const [, parent] = /\) \S (\d+)/.exec(readText(`/proc/${pid}/stat`)) ?? [];
    if (parent !== undefined) parents.set(pid, Number(parent));
  }
  return parents;
}

export function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Boolean);
  } catch {
    return []; // the process has ended, or this is not Linux
  }
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
