import autocannon from 'autocannon';
import { processorClock } from './processor-time.ts';

export interface Load {
  /** Requests a second. */
  rate: number;
  /** Milliseconds that half of them took at most. */
  ms: number;
  /** Microseconds of processor time for one. */
  work: number;
}

/**
 * Keeps every connection busy.
 * @param pids whose work it is
 * @throws Error when any was refused or broke
 */
export async function load(options: autocannon.Options, ...pids: number[]): Promise<Load> {
  const used = processorClock(...pids);
  const result = await autocannon(options);
  if (result.non2xx > 0 || result.errors > 0) {
    const answers = JSON.stringify(result.statusCodeStats);
    throw new Error(`${options.url}: ${answers} by status, ${result.errors} broken`);
  }
  return { rate: result.requests.average, ms: result.latency.p50, work: (1000 * used()) / result['2xx'] };
}
