import autocannon from 'autocannon';
import type { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { processorClock } from './processor-time.ts';

const CONNECTIONS = 64;

/** The service or program that creates tasks and works on them. */
export interface Side {
  url: string;
  /** The table that holds the ended tasks. */
  table: string;
  headers: Record<string, string>;
  /** Processes whose processor time is counted. */
  pids: number[];
}

export interface Burst {
  /** Tasks a second. */
  rate: number;
  /** Milliseconds of processor time for one task. */
  work: number;
}

/** Counts the webhooks of a burst. */
export interface Arrivals {
  count: number;
  /** Unix milliseconds. */
  lastAt: number;
}

/**
 * Creates tasks and waits until they have succeeded and, where `arrivals` are given, until a webhook has arrived for
 * each. The time of the rate runs from the first creation to the last end, by the rows; with `arrivals` to the last
 * arrival.
 * @throws Error when a request was refused or failed
 */
export async function burst(
  side: Side,
  body: string,
  { database, amount, arrivals }: { database: Client; amount: number; arrivals?: Arrivals },
): Promise<Burst> {
  if (arrivals) arrivals.count = 0;
  const used = processorClock(...side.pids);
  const since = new Date();
  const { url, headers } = side;
  const sent = await autocannon({ url, headers, method: 'POST', body, connections: CONNECTIONS, amount });
  if (sent.non2xx > 0 || sent.errors > 0) throw new Error(`${sent.non2xx} refused, ${sent.errors} broken`);
  for (;;) {
    const { rows } = await database.query<{ done: number; first: Date; last: Date }>(
      `select count(*)::int as done, min(created_at) as first, max(completed_at) as last from ${side.table}
       where created_at >= $1 and status = 'succeeded'`,
      [since],
    );
    const { done, first, last } = rows[0]!;
    if (done >= amount && (arrivals === undefined || arrivals.count >= amount)) {
      const ms = (arrivals ? arrivals.lastAt : last.getTime()) - first.getTime();
      return { rate: (amount * 1000) / ms, work: used() / amount };
    }
    await sleep(100);
  }
}
