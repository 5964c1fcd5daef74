import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { withMoments } from './add-moments.ts';
import { isLocked, locked } from './locked-rows.ts';
import type { LeaseRef } from '../record/lease.ts';

/** SQL: `wanted` has the claims in $1 and $2; `locked` locks their tasks. */
const HELD = `
    wanted as (
      select * from unnest($1::text[], $2::int[]) as w(id, attempt)
    ), ${locked('$1')}`;

const HOLDS = `${isLocked()} and t.attempt = w.attempt`;

const RENEW: Statement = {
  name: 'tasks.renew_leases',
  text: `
    with ${HELD}
    update tasks_live t set lease_until = now() + make_interval(secs => $3) from wanted w where ${HOLDS}
    returning t.id`,
};

/**
 * SQL: a time between AT_ONCE and every other lease. A task whose lease is earlier was given back to be claimed at
 * once, so a claim need not wait for its worker.
 */
export const RELEASED = `'1970-01-02 00:00Z'::timestamptz`;
/** SQL: the lease of a task that any worker may claim now. */
export const AT_ONCE = `${RELEASED} - interval '1 day'`;

/**
 * Gives tasks back. `losses` is lowered, because the next claim raises it for every task, even for one that was given
 * back. It is lowered only once, because a statement whose answer was lost is repeated. With $3, a worker may claim the
 * tasks in $3 seconds, and for 0 at once. Without $3, the leases are not renewed any more, and expire.
 */
const RELEASE: Statement = {
  name: 'tasks.release',
  text: `
    with ${HELD}
    update tasks_live t set losses = t.losses - (t.worker_id is not null)::int, worker_id = null,
           timeline = case when $4::jsonb is null then t.timeline else ${withMoments('t.timeline', '$4::jsonb')} end,
           lease_until = case when $3::float8 = 0 then ${AT_ONCE}
                              else coalesce(now() + make_interval(secs => $3::float8), t.lease_until) end
    from wanted w where ${HOLDS}
    returning t.id`,
};

/** Raw SQL because each heartbeat renews all leases of a process in one statement, with rows locked in id order. */
@Injectable()
export class RenewLeases {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** @returns the ids whose lease still holds */
  async renew(leases: LeaseRef[]): Promise<Set<string>> {
    const rows = await this.sql.run<{ id: string }>(RENEW, [...columns(leases), this.config.taskLeaseS]);
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * @param afterS seconds until another worker may claim the tasks; null: when the leases expire
   * @param moments JSON, to add to the timeline of each; null: none
   * @returns the ids whose lease still held
   */
  async release(leases: LeaseRef[], afterS: number | null, moments: string | null): Promise<string[]> {
    const rows = await this.sql.run<{ id: string }>(RELEASE, [...columns(leases), afterS, moments]);
    return rows.map(({ id }) => id);
  }
}

const columns = (leases: LeaseRef[]): unknown[] => [leases.map(({ id }) => id), leases.map(({ attempt }) => attempt)];
