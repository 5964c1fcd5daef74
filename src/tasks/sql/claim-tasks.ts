import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { hidden } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { Claim, ClaimedTask } from '../queue/lease.ts';
import { WORKER_ID } from '../queue/worker-id.ts';

/**
 * Claims tasks whose lease has expired, then waiting ones, and raises `attempt`: from then on only writes that name the new
 * number take effect. Rows that another process is claiming are skipped. Locks are taken in the order tasks -> key_load, as
 * in every statement that takes both, so there is no deadlock. `key_load` is read under its lock, so a key never runs more
 * than its limit in any number of processes; tasks over the limit are parked, and the key's next task to end unparks them.
 */
const claim = (name: string, lapsed: string, waiting: string): Statement => ({
  name,
  text: `
    with lapsed as (
      select id, api_key_id, status from tasks
      where ${lapsed}
      order by lease_until limit $1 for update skip locked
    ), waiting as (
      select id, api_key_id, status from tasks
      where ${waiting}
      order by priority, id limit $1 - (select count(*) from lapsed) for update skip locked
    ), ready as (
      select * from lapsed union all select * from waiting
    ), load as (
      select api_key_id, running, max_running from key_load
      where api_key_id in (select api_key_id from waiting) order by api_key_id for update
    ), placed as (
      select *, row_number() over (partition by api_key_id, status order by id) as place from ready
    ), granted as (
      select p.id, p.status from placed p left join load l using (api_key_id)
      where p.status = 'running' or l.max_running = 0 or l.running + p.place <= l.max_running
    ), claimed as (
      update tasks t
      set status = 'running', attempt = t.attempt + 1, losses = t.losses + (g.status = 'running')::int,
          lease_until = now() + make_interval(secs => $3), worker_id = $2, started_at = coalesce(t.started_at, now()),
          sequence = t.sequence + 1
      from granted g where t.id = g.id
      returning t.*, g.status as was, extract(epoch from t.deadline_at - now())::float8 as remaining_s
    ), counted as (
      update key_load l set queued = l.queued - c.tasks, running = l.running + c.tasks
      from (select api_key_id, count(*) as tasks from claimed where was = 'queued' group by api_key_id) c
      where l.api_key_id = c.api_key_id
    ), parked as (
      update tasks t set parked = true from ready r
      where t.id = r.id and r.id not in (select id from granted)
    )
    select c.*, n.candidates from (select count(*)::int as candidates from ready) n left join claimed c on true
    order by c.priority, c.id`,
});

const LAPSED = `$5 and lease_until < now() and losses + 1 < $4 and ${hidden('tasks.status')} = 'running'`;

const CLAIM = claim('tasks.claim', LAPSED, `status = 'queued' and not parked`);

/** Tasks at the head of the queue that a claim of reserved places looks at: it must not read the whole backlog of a busy key. */
const LOOKAHEAD = 200;

/** For places that are reserved for keys other than $6: one task of each such key. */
const CLAIM_RESERVED = claim(
  'tasks.claim_reserved',
  `${LAPSED} and id in (
        select distinct on (api_key_id) id from tasks where ${LAPSED} and api_key_id <> all($6::text[])
        order by api_key_id, lease_until)`,
  `${hidden('tasks.status')} = 'queued' and not parked and id = any(array(
        select distinct on (api_key_id) id
        from (select id, api_key_id, priority from tasks where status = 'queued' and not parked
              order by priority, id limit ${LOOKAHEAD}) head
        where api_key_id <> all($6::text[]) order by api_key_id, priority, id))`,
);

type Row = (ClaimedTask | { id: null }) & { candidates: number };

/** Raw SQL because the claim is the hottest write: nine CTEs in one statement and one commit. */
@Injectable()
export class ClaimTasks {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /**
   * @param limit most tasks to claim
   * @param includeExpired also claim tasks whose lease has expired
   * @param exceptKeys claim at most one task a key, and none of these keys; null: any task
   */
  async claim(limit: number, includeExpired: boolean, exceptKeys: string[] | null): Promise<Claim> {
    const { taskLeaseS, taskMaxAttempts } = this.config;
    const values = [limit, WORKER_ID, taskLeaseS, taskMaxAttempts, includeExpired];
    const rows = exceptKeys
      ? await this.sql.run<Row>(CLAIM_RESERVED, [...values, exceptKeys])
      : await this.sql.run<Row>(CLAIM, values);
    return {
      tasks: rows.filter((row): row is ClaimedTask & { candidates: number } => row.id !== null),
      full: (rows[0]?.candidates ?? 0) >= limit,
    };
  }
}
