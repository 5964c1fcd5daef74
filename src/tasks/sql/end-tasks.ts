import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import type { ApiError } from '../../errors/api-error.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import { type EndHook, type Ending, LONGEST_END_MS } from '../record/ending.ts';
import { SHOWN_COLUMNS, type ShownTask, type TaskStatus } from '../record/task.entity.ts';
import { chargeOf } from '../record/charge.ts';
import { UsageTerms } from '../record/usage-terms.ts';
import { withMoments } from './add-moments.ts';
import { BatchByKey, type LockTimeout, setLockTimeout } from './batch-by-key.ts';
import { isLocked, lockedWithin } from './locked-rows.ts';
import { MOVED, MOVED_BUT_TIMELINE, WRITTEN } from './moved-columns.ts';
import { CHARGE_COLUMNS, CHARGE_NAMES, CHARGED, CHARGES, LEDGER, LEDGER_COLUMNS, usageJson } from './usage-of-end.ts';
import { settled } from './settle-budgets.ts';

/**
 * Moves unfinished tasks to the table of final ones. An ending with an `attempt` moves the task only while the claim
 * with this number holds it: when a finish and a cancel race, one finds the row and the other does not. END also writes
 * the row of the ledger, so a task is counted once, however it ends. The transaction locks tasks_live -> key_load ->
 * key_budgets, each in order.
 *
 * The counters of the keys are updated by another statement, because this one would nearly always wait for them. After
 * a wait for a row PostgreSQL sets up all parts of a statement again, which took a quarter of the statement's time.
 */
const END: Statement = {
  name: 'tasks.end',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(
        id text, attempt int, lapsed boolean, unclaimed boolean, outcome text, result json, error json, moments jsonb, ${CHARGE_COLUMNS})
    ), ${lockedWithin('$5', setLockTimeout('$3'))}, gone as (
      delete from tasks_live t using wanted w
      where ${isLocked()}
        and (w.attempt is null or t.attempt = w.attempt)
        and (w.lapsed is not true or t.lease_until < now())
        and (w.unclaimed is not true or t.attempt = 0)
      returning t.*, w.outcome, w.result, w.error, w.moments, ${CHARGE_NAMES}
    ), ended as (
      select ${MOVED_BUT_TIMELINE}, outcome as status, status as was, sequence + 1 as sequence, now() as completed_at, result, error,
             case when outcome = 'succeeded' then 100 when error->>'code' = 'task_cancelled' then 0 else progress end::smallint as progress,
             case when outcome = 'succeeded' then least(now() + make_interval(secs => coalesce(file_retention_s, $2)), expires_at) end as files_expire_at,
             case when moments is null then timeline else ${withMoments('timeline', 'moments')} end as timeline,
             ${usageJson('$4')} as usage, null::timestamptz as kept_at, null::text as collection, held, reserved_micros, ${LEDGER_COLUMNS}
      from (select g.*, ${CHARGES} from gone g cross join ${CHARGED}) h
    ), kept as (
      insert into tasks_done (${MOVED}, ${WRITTEN}) select ${MOVED}, ${WRITTEN} from ended
    ), ${LEDGER}
    select ${SHOWN_COLUMNS}, was, held, counts_for, budget_day::text, reserved_micros, cost_micros from ended`,
};

/**
 * The least time between two batches. The fixed cost of the statement is as high as that of five rows. When several
 * tasks end together, one claim can also fill all their places.
 */
const MIN_INTERVAL_MS = 4;

type EndedRow = ShownTask & CountedEnd & SettledEnd;

export interface EndedTask {
  task: ShownTask;
  /** Whether the API key has a limit of running tasks. A parked task may then run now. */
  isKeyLimited: boolean;
  /** Of the keys that counted the task, those that share a limit of running tasks with the keys below them. */
  sharedBy: string[];
}

/** The code is the one of an outage, which makes the worker try again. */
class EndTooSlow extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super(`Ending the tasks took longer than ${LONGEST_END_MS} ms.`);
  }
}

/**
 * Raw SQL because ends are batched: the rows, the counters of their keys and the writes of the hooks have one commit.
 */
@Injectable()
export class EndTasks {
  private readonly batch = new BatchByKey<Ending, EndedTask | null>((endings, wait) => this.flush(endings, wait), {
    name: 'tasks.end',
    maxItems: 200,
    minIntervalMs: MIN_INTERVAL_MS,
  });
  private readonly hooks: EndHook[] = [];

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
    private readonly terms: UsageTerms,
  ) {}

  /** @param hook writes in the same commit as the ends */
  registerHook(hook: EndHook): void {
    this.hooks.push(hook);
  }

  /**
   * @returns null when nothing changed: the task had ended already, another claim holds it, or `lapsed` or `unclaimed`
   *   is not met
   */
  end(ending: Ending): Promise<EndedTask | null> {
    return this.batch.add(ending);
  }

  private async flush(endings: Ending[], wait: LockTimeout): Promise<(EndedTask | null | ApiError)[]> {
    const first = new Map<string, Ending>();
    for (const ending of endings) if (!first.has(ending.id)) first.set(ending.id, ending);
    const rows = [...first.values()];
    const values = [
      toJson(rows, this.terms.currency),
      this.config.fileRetentionDays * DAY_S,
      wait,
      this.terms.currency,
      rows.map(({ id }) => id),
    ];
    const keys = [...new Set(rows.map((ending) => ending.api_key_id))];
    const { ended, afterCommit } = await this.sql.transaction((tx, commit) => this.write(tx, commit, values, keys));
    afterCommit();

    const byId = new Map(ended.map((one) => [one.task.id, one]));
    return endings.map((ending) => (first.get(ending.id) === ending ? (byId.get(ending.id) ?? null) : null));
  }

  /**
   * Takes two round trips, however many hooks there are. The first has END and the reads of the hooks. The second has
   * the writes of the hooks, the counters and the commit. The counters come last, because creations, claims and other
   * ends of the same keys wait for them until the commit.
   */
  private async write(
    tx: Tx,
    commit: () => void,
    values: unknown[],
    apiKeyIds: string[],
  ): Promise<{ ended: EndedTask[]; afterCommit: () => void }> {
    const begunMs = performance.now();
    const [{ rows: ended }, ...prepared] = await Promise.all([
      tx.query<EndedRow>({ ...END, values }),
      ...this.hooks.map((hook) => hook(tx, apiKeyIds)),
    ]);

    if (performance.now() - begunMs > LONGEST_END_MS) throw new EndTooSlow();

    const writes = ended.length > 0 ? prepared.flatMap((writeFor) => writeFor?.(ended) ?? []) : [];
    const sent = writes.map(({ statement }) => tx.query<object>(statement));
    const counted = countEnded(tx, ended);
    const settled = settleEnded(tx, ended);
    commit();
    const [results, limited] = await Promise.all([Promise.all(sent), counted, settled]);
    return {
      ended: ended.map((task) => ({
        task,
        isKeyLimited: limited.own.has(task.api_key_id),
        sharedBy: countedBy(task).filter((id) => limited.shared.has(id)),
      })),
      afterCommit: () => writes.forEach((write, at) => write.afterCommit(results[at]?.rows ?? [])),
    };
  }
}

const toJson = (endings: Ending[], currency: string): string =>
  JSON.stringify(
    endings.map(({ id, attempt, lapsed, unclaimed, outcome, moments, usage, resolution }) => {
      const { status, ...ends } = outcome;
      const charge = chargeOf({ outcome, usage }, currency);
      return { id, attempt, lapsed, unclaimed, moments, outcome: status, ...ends, ...charge, resolution };
    }),
  );

/** The part of an ended task that the counters of its API key need. */
type CountedEnd = Pick<ShownTask, 'api_key_id' | 'low'> & {
  /** The status of the task before its end. */
  was: TaskStatus;
  held: boolean;
  counts_for: string[] | null;
};

const countedBy = ({ api_key_id, counts_for }: Pick<CountedEnd, 'api_key_id' | 'counts_for'>): string[] => [
  api_key_id,
  ...(counts_for ?? []),
];

/**
 * Locks rows in the order of their keys, so two processes cannot deadlock. $1 are the API keys; the other parameters
 * count the ends of each key. Tasks that an earlier release created were never counted in the rows of the keys above,
 * so these counts stop at 0.
 */
const COUNT: Statement = {
  name: 'tasks.count_ended',
  text: `
    with wanted as (
      select * from unnest($1::text[], $2::int[], $3::int[], $4::int[], $5::int[], $6::int[], $7::int[])
        as w(id, queued, running, lows, held, below_queued, below_running)
    ), held as (
      select w.* from (select * from wanted order by id collate "C") w cross join lateral (
        select from key_load l where l.api_key_id = w.id offset 0 for update) l
    )
    update key_load l set queued = l.queued - h.queued, running = l.running - h.running, low = greatest(l.low - h.lows, 0),
           held = l.held - h.held, below_queued = greatest(l.below_queued - h.below_queued, 0),
           below_running = greatest(l.below_running - h.below_running, 0)
    from held h where l.api_key_id = h.id returning l.api_key_id, l.max_running, l.shared_running`,
};

interface LimitedKeys {
  own: Set<string>;
  shared: Set<string>;
}

/**
 * Call this in the transaction that has ended the tasks, after the writes of the hooks.
 * @returns the API keys with a limit of running tasks, and those that share such a limit with the keys below them.
 *   Parked tasks may run now under these limits
 */
async function countEnded(tx: Tx, ended: CountedEnd[]): Promise<LimitedKeys> {
  if (ended.length === 0) return { own: new Set(), shared: new Set() };
  const counts = ended.flatMap((task) => countedBy(task).map((id) => ({ id, task, isOwn: id === task.api_key_id })));
  const keys = [...Map.groupBy(counts, ({ id }) => id)];
  const countsOf = (own: boolean, which: (task: CountedEnd) => boolean) =>
    keys.map(([, all]) => all.filter(({ isOwn, task }) => isOwn === own && which(task)).length);
  const values = [
    keys.map(([id]) => id),
    countsOf(true, ({ was }) => was === 'queued'),
    countsOf(true, ({ was }) => was === 'running'),
    countsOf(true, ({ low }) => low),
    countsOf(true, ({ held }) => held),
    countsOf(false, ({ was }) => was === 'queued'),
    countsOf(false, ({ was, held }) => was === 'running' && !held),
  ];
  const { rows } = await tx.query<CountedRow>({ ...COUNT, values });
  const withLimit = (limit: 'max_running' | 'shared_running') =>
    new Set(rows.filter((row) => row[limit] > 0).map(({ api_key_id }) => api_key_id));
  return { own: withLimit('max_running'), shared: withLimit('shared_running') };
}

interface CountedRow {
  api_key_id: string;
  max_running: number;
  shared_running: number;
}

/** The part of an ended task that the budget of its API key needs. */
interface SettledEnd {
  api_key_id: string;
  counts_for: string[] | null;
  budget_day: string | null;
  /** Micro-units, as PostgreSQL writes them. */
  reserved_micros: string | null;
  cost_micros: string;
}

/**
 * A separate statement, so that its snapshot is taken after the tasks were locked. The first budget of a key locks the
 * unfinished tasks of the key. An end that has waited for this lock sees the changed tasks, but its own snapshot lacks
 * the new row of the budget.
 */
const SETTLE: Statement = {
  name: 'tasks.settle_ended',
  text: `
    with ended as (
      select * from unnest($1::text[], $2::date[], $3::bigint[], $4::bigint[]) as e(api_key_id, budget_day, reserved_micros, cost_micros)
    ), keys as (
      select distinct api_key_id from ended order by api_key_id
    ), ${settled('ended', 'keys')}
    select 1`,
};

/** Call in the transaction that has ended the tasks, once it has locked the rows of their keys in key_load. */
async function settleEnded(tx: Tx, ended: SettledEnd[]): Promise<void> {
  const reserved = ended
    .filter(({ budget_day }) => budget_day !== null)
    .flatMap((end) => countedBy(end).map((api_key_id) => ({ ...end, api_key_id })));
  if (reserved.length === 0) return;
  const values = [
    reserved.map(({ api_key_id }) => api_key_id),
    reserved.map(({ budget_day }) => budget_day),
    reserved.map(({ reserved_micros }) => reserved_micros),
    reserved.map(({ cost_micros }) => cost_micros),
  ];
  await tx.query({ ...SETTLE, values });
}
