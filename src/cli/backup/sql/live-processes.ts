import type { Client } from 'pg';
import { LOST_AFTER_S } from '../../../operations/processes/process-state.ts';

export interface LiveProcess {
  id: string;
  host: string;
  busy: number;
  draining: boolean;
}

/** Asks the live processes to claim no more tasks, and to finish those that they run. */
const REQUEST_DRAIN = `
  update processes set drain_requested = true where last_seen_at > now() - interval '${LOST_AFTER_S} seconds' and not drain_requested`;

const LIVE = `
  select id, host, busy, draining from processes where last_seen_at > now() - interval '${LOST_AFTER_S} seconds' order by id`;

export async function requestDrain(client: Client): Promise<void> {
  await client.query(REQUEST_DRAIN);
}

export async function liveProcesses(client: Client): Promise<LiveProcess[]> {
  return (await client.query<LiveProcess>(LIVE)).rows;
}
