import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { hidden } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { Claim, ClaimedTask } from '../queue/lease.ts';
import { WORKER_ID } from '../queue/worker-id.ts';
import { isLockTimeout } from './batch-by-key.ts';
import { RELEASED } from './renew-leases.ts';

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
          deadline_at = case when t.started_at is null then now() + (t.deadline_at - t.created_at) else t.deadline_at end,
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

/** $5: not only released tasks, but any whose lease has expired. */
const LAPSED = `lease_until < case when $5 then now() else ${RELEASED} end and id <> all($6::text[]) and losses + 1 < $4
        and ${hidden('tasks.status')} = 'running'`;

/** Passes over the tasks of API keys whose counters row is locked, for the time in which one stays locked. */
const UNLOCKED = 'and exists (select 1 from key_load l where l.api_key_id = tasks.api_key_id for update skip locked)';

const WAITING = `status = 'queued' and not parked`;

const CLAIM = claim('tasks.claim', LAPSED, WAITING);
const CLAIM_UNLOCKED = claim('tasks.claim_unlocked', LAPSED, `${WAITING} ${UNLOCKED}`);

/** Tasks at the head of the queue that a claim of reserved places looks at: it must not read the whole backlog of a busy key. */
const LOOKAHEAD = 200;

/** One task of each key but $7. */
const LAPSED_OF_OTHERS = `${LAPSED} and id in (
        select distinct on (api_key_id) id from tasks where ${LAPSED} and api_key_id <> all($7::text[])
        order by api_key_id, lease_until)`;
const WAITING_OF_OTHERS = `${hidden('tasks.status')} = 'queued' and not parked and id = any(array(
        select distinct on (api_key_id) id
        from (select id, api_key_id, priority from tasks where ${WAITING}
              order by priority, id limit ${LOOKAHEAD}) head
        where api_key_id <> all($7::text[]) order by api_key_id, priority, id))`;

/** For places that are reserved for keys other than $7. */
const CLAIM_RESERVED = claim('tasks.claim_reserved', LAPSED_OF_OTHERS, WAITING_OF_OTHERS);
const CLAIM_RESERVED_UNLOCKED = claim(
  'tasks.claim_reserved_unlocked',
  LAPSED_OF_OTHERS,
  `${WAITING_OF_OTHERS} ${UNLOCKED}`,
);

/** Not always, because a busy key's row is locked most of the time, though never for long. */
const UNLOCKED_FOR_MS = 5_000;

type Row = (ClaimedTask | { id: null }) & { candidates: number };

/** Raw SQL because the claim is the hottest write: nine CTEs in one statement and one commit. */
@Injectable()
export class ClaimTasks {
  /** On the monotonic clock. */
  private unlockedUntilMs = 0;

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /**
   * @param limit most tasks to claim
   * @param includeExpired also claim tasks whose lease has expired, not only released ones
   * @param held tasks that this process still runs; it never claims them, however late its renewals are
   * @param exceptKeys claim at most one task a key, and none of these keys; null: any task
   */
  async claim(limit: number, includeExpired: boolean, held: string[], exceptKeys: string[] | null): Promise<Claim> {
    const { taskLeaseS, taskMaxAttempts } = this.config;
    const values = [limit, WORKER_ID, taskLeaseS, taskMaxAttempts, includeExpired, held];
    const rows = exceptKeys
      ? await this.run(CLAIM_RESERVED, CLAIM_RESERVED_UNLOCKED, [...values, exceptKeys])
      : await this.run(CLAIM, CLAIM_UNLOCKED, values);
    return {
      tasks: rows.filter((row): row is ClaimedTask & { candidates: number } => row.id !== null),
      full: (rows[0]?.candidates ?? 0) >= limit,
    };
  }

  /** @param whileLocked runs instead for a while after `statement` failed because of a locked row */
  private async run(statement: Statement, whileLocked: Statement, values: unknown[]): Promise<Row[]> {
    if (performance.now() < this.unlockedUntilMs) return this.sql.run<Row>(whileLocked, values);
    try {
      return await this.sql.run<Row>(statement, values);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      this.unlockedUntilMs = performance.now() + UNLOCKED_FOR_MS;
      return this.sql.run<Row>(whileLocked, values);
    }
  }
}
