/** The costs of some work for this process. */
interface Cost {
  /** The highest memory, less the memory at the start. */
  bytes: number;
  /** Processor time of all threads of this process. Other work on this machine does not count. */
  seconds: number;
  /** The longest processor time between two timers of this thread. */
  longestMs: number;
}

export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.memoryUsage.rss();
  let highest = before;
  let longestMs = 0;
  let last = process.threadCpuUsage();
  const sampler = setInterval(() => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longestMs = Math.max(longestMs, (user + system) / 1000);
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 5);
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  clearInterval(sampler);
  return { bytes: highest - before, seconds: (user + system) / 1e6, longestMs };
}
