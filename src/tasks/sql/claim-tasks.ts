import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { equalsOrdered, PLANNED_SEPARATELY } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { readClocks } from '../../platform/run/clocks.ts';
import type { Claim, ClaimedTask } from '../record/lease.ts';
import { NOTHING_OF_END, type TaskStatus } from '../record/task.entity.ts';
import { LowShare } from './low-share.ts';
import { WORKER_ID } from '../record/worker-id.ts';
import { isLockTimeout, setLockTimeout } from './batch-by-key.ts';
import { moment, withMoments } from './add-moments.ts';
import { GIVES_UP, isOneOf } from './locked-rows.ts';
import { PAUSED_MODELS } from './paused-models.ts';
import { RELEASED } from './renew-leases.ts';

/**
 * SQL: moves the line to the place of the last claimed task. If another claim is moving the line at the same time, this
 * claim does not move it.
 */
const MOVED = `passed as (
      select max(place) filter (where not low) as place, max(place) filter (where low) as low_place from claimed where was = 'queued'
    ), moved as (
      update line n set place = greatest(n.place, p.place), low_place = greatest(n.low_place, p.low_place)
      from passed p
      where n.id = (select n.id from line n cross join passed p where n.id and (n.place < p.place or n.low_place < p.low_place)
                    for update of n skip locked)
    ), `;

/**
 * SQL: the timeline of a task that is claimed again. `worker_id` is set unless the worker has given the task back. A
 * task that was given back to wait gets no moment: its wait was noted when it began, and goes on.
 */
const RECLAIMED = `case
            when t.worker_id is not null then ${withMoments('t.timeline', `${moment('worker_lost', 't.attempt')} || ${moment('taken_over', 't.attempt + 1')}`)}
            when t.held or t.timeline->-1->>1 = 'held' then t.timeline
            else ${withMoments('t.timeline', moment('taken_over', 't.attempt + 1'))} end`;

/**
 * SQL: which of the candidates may run. The rows of `key_load` are locked before they are read. So no key passes its
 * own limit, or the limit that it shares with the keys below it, in any number of processes. `keys` reads all tasks
 * first, so locks are taken in the order tasks -> key_load. Every statement that takes both locks does so, which
 * prevents deadlocks. A task that was `held` counts as running again.
 */
const GRANTED = `keys as (
      select array_agg(k.id) as ids, ${setLockTimeout(`'1s'`)} from ready, unnest(array_append(counts_for, api_key_id)) k(id)
      where takes and pause_id is null
    ), load as (
      select api_key_id, running - held as active, max_running, below_running, shared_running from key_load
      where api_key_id = any((select ids from keys)::text[]) order by api_key_id for update
    ), placed as (
      select *, row_number() over (partition by api_key_id, takes order by turn, id) as nth from ready where pause_id is null
    ), fitting as (
      select p.* from placed p left join load l using (api_key_id)
      where not p.takes or l.max_running = 0 or l.active + p.nth <= l.max_running
    ), beyond as (
      select n.id from (
        select p.id, k.id as key_id, row_number() over (partition by k.id order by p.turn, p.id) as nth
        from fitting p, unnest(array_append(p.counts_for, p.api_key_id)) k(id) where p.takes
      ) n join load l on l.api_key_id = n.key_id
      where l.shared_running > 0 and l.active + l.below_running + n.nth > l.shared_running
    ), granted as (
      select id, api_key_id, counts_for, takes, held from fitting where id not in (select id from beyond)
    )`;

/** SQL of `claimed`: what a claim writes. */
const CLAIMED = `status = 'running', waits = false, held = false, attempt = t.attempt + 1, losses = t.losses + (t.attempt > 0)::int,
          lease_until = now() + make_interval(secs => $3), worker_id = $2, started_at = coalesce(t.started_at, now()),
          deadline_at = case when t.started_at is null
                             then now() + coalesce(make_interval(secs => t.run_deadline_s), t.deadline_at - t.created_at)
                             else t.deadline_at end,
          sequence = t.sequence + 1,
          timeline = case when t.attempt > 0 then ${RECLAIMED} else t.timeline end`;

/**
 * With $10, leaves out a task if the counters row of its API key, or of a key above it, is locked. $10 is true for 5 s
 * after a claim gave up on a lock. This condition and the turns of low tasks cost an eighth of PostgreSQL's time for a
 * claim of one task, 7 percent for a claim of 8 tasks, 5 percent for a claim of 32 tasks.
 */
const UNLOCKED = `(not $10::boolean or cardinality(array_append(counts_for, api_key_id)) = (
        select count(*) from (select from key_load l where l.api_key_id = any(array_append(tasks_live.counts_for, tasks_live.api_key_id))
                              for update skip locked) free))`;

const CANDIDATE = 'id, api_key_id, counts_for, status, held, model';

/**
 * The conditions by which a claim finds tasks: those with an expired lease, all that wait, and those of low priority
 * that wait.
 */
interface Places {
  lapsed: string;
  waiting: string;
  low: string;
  /** SQL that moves the line. Left out if the tasks are not at the head of the line. */
  moved?: string;
}

/**
 * Claims tasks whose lease has expired, then waiting ones in the order of the line (admission.ts), and raises
 * `attempt`: from then on only writes that name the new number take effect. Rows that another process is claiming are
 * skipped. Tasks over the limit of their key, or of a key above it, are parked until the key may run more. Tasks of a
 * paused model are parked too, so that the next claim does not read them.
 *
 * At most $7 tasks of low priority get a turn among the normal ones. $8 and $9 are `gathered` and `share` of
 * `LowTurns`; they say after how many normal tasks each turn comes. Rows are numbered in the order in which the CTEs
 * return them, without sorting them again.
 */
const claim = (name: string, { lapsed, waiting, low, moved = '' }: Places): Statement => ({
  name,
  skipsLocked: true,
  text: `
    with paused as (${PAUSED_MODELS}
    ), lapsed as (
      select ${CANDIDATE} from tasks_live where ${lapsed} and (not held or ${UNLOCKED}) and ${GIVES_UP}
      order by lease_until limit $1 for update skip locked
    ), turns as (
      select ${CANDIDATE} from tasks_live where ${low} and ${UNLOCKED}
      order by low, place, id limit least($7::int, $1 - (select count(*) from lapsed)) for update skip locked
    ), waiting as (
      select ${CANDIDATE} from tasks_live where ${waiting} and ${UNLOCKED}
      order by low, place, id limit $1 - (select count(*) from lapsed) - (select count(*) from turns) for update skip locked
    ), ready as (
      select c.*, p.pause_id, c.status = 'queued' or c.held as takes from (
        select *, 0::float8 as turn from lapsed
        union all
        select *, ceil(((100 - $9::int) * row_number() over () - $8::int) / $9::float8) + 0.5 from turns
        union all
        select *, (row_number() over ())::float8 from waiting
      ) c left join paused p on p.model = c.model and c.status = 'queued'
    ), ${GRANTED}, claimed as (
      update tasks_live t set ${CLAIMED}
      where ${isOneOf('select id from granted')}
      returning t.*, ${NOTHING_OF_END}, case when t.attempt = 1 then 'queued' else 'running' end as was,
                extract(epoch from t.deadline_at - now())::float8 as remaining_s
    ), counted as (
      update key_load l
      set queued = l.queued - c.tasks, running = l.running + c.tasks, held = l.held - c.resumed,
          below_queued = greatest(l.below_queued - c.below_tasks, 0), below_running = l.below_running + c.below
      from (select k.id, count(*) filter (where own and not held) as tasks, count(*) filter (where own and held) as resumed,
                   count(*) filter (where not own and not held) as below_tasks, count(*) filter (where not own) as below
            from granted g, unnest(array_append(g.counts_for, g.api_key_id)) k(id), lateral (select k.id = g.api_key_id as own) o
            where takes group by k.id) c
      where l.api_key_id = c.id
    ), ${moved}parked as (
      update tasks_live t set parked = true, waits = false, lease_until = null, paused_by = r.pause_id,
             timeline = case when r.pause_id is null then ${withMoments('t.timeline', moment('held', 't.attempt', 'key_limit'))}
                        else ${withMoments('t.timeline', moment('held', 't.attempt', 'pause'))} end
      from ready r
      where ${equalsOrdered('t.id', 'r.id')} and r.id not in (select id from granted)
    )
    select c.*, n.candidates from (select count(*)::int as candidates from ready) n left join claimed c on true
    order by c.low, c.place, c.id`,
});

/**
 * SQL: all tasks whose lease had expired at $5, in unix seconds; without $5, only those that were given back to be
 * claimed at once. Leaves out the tasks $6, and tasks at their last attempt.
 */
const LAPSED = `lease_until < least(now(), coalesce(to_timestamp($5::float8), ${RELEASED})) and id <> all($6::text[]) and losses + 1 < $4`;

const CLAIM = claim('tasks.claim', {
  lapsed: LAPSED,
  low: 'waits and low',
  waiting: 'waits and id <> all(array(select id from turns))',
  moved: MOVED,
});

/**
 * The most tasks at the head of the line that a claim of reserved slots looks at. Such a claim must not read the whole
 * backlog of a busy key.
 */
const LOOKAHEAD = 200;

/** SQL: one task of each key that is not in $11, among those at the head of the line. */
const headOfOthers = (waiting: string): string => `waits and id in (
        select distinct on (api_key_id) id
        from (select id, api_key_id, low, place from tasks_live where ${waiting}
              order by low, place, id limit ${LOOKAHEAD}) head
        where api_key_id <> all($11::text[]) order by api_key_id, low, place, id)`;

/**
 * The claim for slots that are reserved for keys other than those in $11. With the text of CLAIM, it would read the
 * backlog of a busy key to its end, because few tasks match. That takes 27 ms with 60,000 tasks; this text takes 0.5
 * ms.
 */
const CLAIM_RESERVED = claim('tasks.claim_reserved', {
  lapsed: `${LAPSED} and id in (
        select distinct on (api_key_id) id
        from (select id, api_key_id, lease_until from tasks_live where ${LAPSED} ${PLANNED_SEPARATELY}) lapsed
        where api_key_id <> all($11::text[]) order by api_key_id, lease_until)`,
  low: headOfOthers('waits and low'),
  waiting: `${headOfOthers('waits')} and api_key_id <> all(array(select api_key_id from turns))`,
});

/**
 * For how long claims leave out keys with a locked row in `key_load`, after one claim gave up waiting for such a lock.
 * At other times claims wait: the row of a busy key is often locked, but only for a moment.
 */
const UNLOCKED_FOR_MS = 5_000;

type Row = (Claimed | { id: null }) & { candidates: number };
type Claimed = Omit<ClaimedTask, 'claim_sent'> & { was: TaskStatus };

/** Raw SQL because the claim is the most frequent write: one statement and one commit. */
@Injectable()
export class ClaimTasks {
  /** Until when locked rows are passed over, on the monotonic clock. */
  private unlockedUntilMs = 0;
  /**
   * Whether the last claim without `exceptKeys` may have left tasks behind. A claim that left none has taken the tasks
   * of low priority too, so the next claim needs no turns for them.
   */
  private wasFull = true;
  private readonly share: LowShare;

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {
    this.share = new LowShare(config.lowPriorityShare);
  }

  /**
   * @param limit most tasks to claim
   * @param expiredByMs also claim tasks whose lease had expired at this time of the database, in unix milliseconds.
   *   After a standstill of the database, it may run this claim before live workers renew their leases. null: claim only
   *   those that were given back to be claimed at once
   * @param held tasks that this process still runs; it never claims them, however late its renewals are
   * @param exceptKeys leaves out the tasks of these keys, and claims at most one expired and one waiting task of each
   *   other key; null: claims any task
   */
  async claim(limit: number, expiredByMs: number | null, held: string[], exceptKeys: string[] | null): Promise<Claim> {
    const { taskLeaseS, taskMaxAttempts } = this.config;
    const { turns, gathered, share } = this.share.next(limit);
    const withTurns = exceptKeys !== null || (turns > 0 && this.wasFull);
    const expiredByS = expiredByMs === null ? null : expiredByMs / 1000;
    const values = [limit, WORKER_ID, taskLeaseS, taskMaxAttempts, expiredByS, held];
    const claim_sent = readClocks();
    const rows = await this.run([...values, withTurns ? turns : 0, gathered, share], exceptKeys);
    const tasks = rows.filter((row): row is Claimed & { candidates: number } => row.id !== null);
    const started = tasks.filter(({ was }) => was === 'queued');
    const low = started.filter((task) => task.low).length;
    const full = (rows[0]?.candidates ?? 0) >= limit;
    this.share.count({ normal: started.length - low, low }, full && !withTurns);
    if (!exceptKeys) this.wasFull = full;
    return { tasks: tasks.map((task) => Object.assign(task, { claim_sent })), full };
  }

  private async run(values: unknown[], exceptKeys: string[] | null): Promise<Row[]> {
    const isUnlocked = performance.now() < this.unlockedUntilMs;
    try {
      return exceptKeys
        ? await this.sql.run<Row>(CLAIM_RESERVED, [...values, isUnlocked, exceptKeys])
        : await this.sql.run<Row>(CLAIM, [...values, isUnlocked]);
    } catch (error) {
      if (isUnlocked || !isLockTimeout(error)) throw error;
      this.unlockedUntilMs = performance.now() + UNLOCKED_FOR_MS;
      return this.run(values, exceptKeys);
    }
  }
}
