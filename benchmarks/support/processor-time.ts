import { numbersIn, processTree, readText } from './process-tree.ts';

/**
 * Counts the processor time that processes use from now on; the kernel has the figures. Unlike a rate, this time hardly
 * depends on other work of the machine. The time of a process that ends meanwhile is lost, for example that of an idle
 * connection.
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

/** The milliseconds of a process since its start, without its children; 0 on systems other than Linux. */
export const processorTimeOf = (pid: number): number => usedByOne(pid);

/** Milliseconds of each process, by its id. */
const usedBy = (pids: number[]): Map<number, number> =>
  new Map(processTree(...pids).map((pid) => [pid, usedByOne(pid)]));

/** The first number in schedstat is nanoseconds on a processor. */
function usedByOne(pid: number): number {
  const threads = numbersIn(`/proc/${pid}/task`);
  return (
    threads.reduce(
      (sum, thread) => sum + (Number.parseInt(readText(`/proc/${pid}/task/${thread}/schedstat`)) || 0),
      0,
    ) / 1e6
  );
}
