import { Injectable } from '@nestjs/common';
import { equalsOrdered } from '../../../platform/database/planner.ts';
import { Sql, type Statement } from '../../../platform/database/sql.ts';

/** Tasks of one key that run at one place, which is an address of a provider with a credential. */
export interface InFlight {
  provider: string;
  provider_url: string;
  credential: string | null;
  api_key_id: string;
  tasks: number;
}

const IN_FLIGHT: Statement = {
  name: 'tasks.watch_in_flight',
  text: `
    select provider, provider_url, credential, api_key_id, count(*)::int as tasks from tasks_live
    where lease_until is not null and submitted_at is not null and provider is not null and provider_url is not null
    group by provider, provider_url, credential, api_key_id`,
};

/** Unfinished tasks of a model. */
export interface ModelQueue {
  model: string;
  waiting: number;
  parked: number;
  paused: number;
  running: number;
  /** Seconds since the creation of the oldest task that waits for a worker; null if none waits. */
  oldest_waiting_s: number | null;
}

const QUEUES: Statement = {
  name: 'tasks.watch_queues',
  text: `
    select model, count(*) filter (where status = 'queued' and not parked)::int as waiting,
           count(*) filter (where status = 'queued' and parked and paused_by is null)::int as parked,
           count(*) filter (where status = 'queued' and parked and paused_by is not null)::int as paused,
           count(*) filter (where status = 'running')::int as running,
           extract(epoch from now() - min(created_at) filter (where status = 'queued' and not parked))::float8 as oldest_waiting_s
    from tasks_live group by model order by model`,
};

/** The load of a key against its limits. */
export interface KeyQueue {
  api_key_id: string;
  queued: number;
  running: number;
  /** 0: no limit. */
  max_running: number;
  /** Seconds since the creation of the oldest task that has never run; null if there is none. */
  oldest_waiting_s: number | null;
}

const KEYS: Statement = {
  name: 'tasks.watch_keys',
  text: `
    select l.*, extract(epoch from now() - t.created_at)::float8 as oldest_waiting_s
    from (select api_key_id, queued, running, max_running from key_load
          where queued > 0 or running > 0 order by queued + running desc, api_key_id limit $1) l
      left join lateral (
        select created_at from tasks_live
        where ${equalsOrdered('api_key_id', 'l.api_key_id')} and attempt = 0 order by api_key_id, id limit 1) t on l.queued > 0
    order by l.queued + l.running desc, l.api_key_id`,
};

/** Raw SQL because of the aggregates, which run only when an operator asks. */
@Injectable()
export class WatchLoad {
  constructor(private readonly sql: Sql) {}

  inFlight(): Promise<InFlight[]> {
    return this.sql.run<InFlight>(IN_FLIGHT);
  }

  queues(): Promise<ModelQueue[]> {
    return this.sql.run<ModelQueue>(QUEUES);
  }

  /** The keys with most unfinished tasks. */
  keys(limit: number): Promise<KeyQueue[]> {
    return this.sql.run<KeyQueue>(KEYS, [limit]);
  }
}
