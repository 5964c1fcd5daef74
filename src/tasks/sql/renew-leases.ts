import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { hiddenStatus } from './planner.ts';

/** Which claim of which task a worker holds. */
export interface LeaseRef {
  id: string;
  attempt: number;
}

const RENEW: Statement = {
  name: 'tasks.renew_leases',
  text: `
    with held as (
      select t.id from tasks t join unnest($1::text[], $2::int[]) as w(id, attempt) using (id, attempt)
      where ${hiddenStatus('t')} = 'running' order by t.id for update of t
    )
    update tasks t set lease_until = now() + make_interval(secs => $3) from held where t.id = held.id
    returning t.id`,
};

/** Lets go without counting a loss: the process is shutting down in order. */
const RELEASE: Statement = {
  name: 'tasks.release',
  text: `
    with held as (
      select t.id from tasks t join unnest($1::text[], $2::int[]) as w(id, attempt) using (id, attempt)
      where ${hiddenStatus('t')} = 'running' order by t.id for update of t
    )
    update tasks t set losses = t.losses - 1,
           lease_until = case when $3::boolean then now() - interval '1 ms' else t.lease_until end
    from held where t.id = held.id
    returning t.id`,
};

/** One statement a heartbeat for all the tasks a process holds. */
@Injectable()
export class RenewLeases {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** @returns the ids still held; what is missing was cancelled, ended or taken over */
  async renew(holds: LeaseRef[]): Promise<Set<string>> {
    const rows = await this.sql.run<{ id: string }>(RENEW, [...columns(holds), this.config.taskLeaseS]);
    return new Set(rows.map(({ id }) => id));
  }

  /** @param atOnce another may claim it now; otherwise when the lease lapses */
  async release(holds: LeaseRef[], atOnce: boolean): Promise<string[]> {
    const rows = await this.sql.run<{ id: string }>(RELEASE, [...columns(holds), atOnce]);
    return rows.map(({ id }) => id);
  }
}

const columns = (holds: LeaseRef[]): [string[], number[]] => [
  holds.map(({ id }) => id),
  holds.map((hold) => hold.attempt),
];
