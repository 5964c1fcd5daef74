import autocannon from 'autocannon';
import { processorClock } from './processor-time.ts';

export interface Load {
  /** Requests a second. */
  rate: number;
  /** Median, in milliseconds. */
  ms: number;
  /** Microseconds of processor time for one request. */
  work: number;
}

/**
 * Keeps every connection busy with requests.
 * @param pids processes whose processor time is counted
 * @throws Error when a request was refused or failed
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
