import { readdirSync, readFileSync } from 'node:fs';

/**
 * Counts the processor time of processes from now on, from the kernel. Unlike a rate, it hardly depends on other work of the
 * machine. The time of a process that ends meanwhile is lost, for example that of an idle connection.
 * @param pids processes, counted with all their children
 * @returns a function that returns the milliseconds so far; NaN on systems other than Linux
 */
export function processorClock(...pids: number[]): () => number {
  const before = usedBy(pids);
  return () => {
    const now = usedBy(pids);
    if (now.size === 0) return Number.NaN;
    return [...now].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
  };
}

/** Milliseconds per process. */
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

/** The first number in schedstat: nanoseconds on a processor. */
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
    return []; // the process has ended, or this is not Linux
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
