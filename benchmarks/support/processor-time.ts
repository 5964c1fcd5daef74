import { readdirSync, readFileSync } from 'node:fs';

/**
 * What processes use of the processors from here on, by the kernel's own account: unlike a rate it hardly depends on what else the
 * machine does. A process that ends meanwhile takes its share with it: an idle connection's, for one.
 * @param pids with all their children
 * @returns tells the milliseconds so far; NaN where there is no such account (it is Linux's)
 */
export function processorClock(...pids: number[]): () => number {
  const before = usedBy(pids);
  return () => {
    const now = usedBy(pids);
    if (now.size === 0) return Number.NaN;
    return [...now].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
  };
}

/** Milliseconds by process. */
function usedBy(pids: number[]): Map<number, number> {
  const parents = parentOf();
  const belongs = (pid: number): boolean => pids.includes(pid) || (parents.has(pid) && belongs(parents.get(pid)!));
  return new Map([...parents.keys()].filter(belongs).map((pid) => [pid, usedByOne(pid)]));
}

function parentOf(): Map<number, number> {
  const parents = new Map<number, number>();
  for (const pid of numbersIn('/proc')) {
    const [, parent] = /\) \S (\d+)/.exec(read(`/proc/${pid}/stat`)) ?? [];
    if (parent !== undefined) parents.set(pid, Number(parent));
  }
  return parents;
}

/** The first number of schedstat: nanoseconds on a processor. */
function usedByOne(pid: number): number {
  const threads = numbersIn(`/proc/${pid}/task`);
  return (
    threads.reduce((sum, thread) => sum + (Number.parseInt(read(`/proc/${pid}/task/${thread}/schedstat`)) || 0), 0) /
    1e6
  );
}

function numbersIn(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number).filter(Boolean);
  } catch {
    return []; // ended meanwhile, or no Linux
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
