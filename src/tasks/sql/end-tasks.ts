import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import { DAY_S } from '../../platform/time.ts';
import type { StoredOutput, Task } from '../task.entity.ts';
import type { TaskError } from '../task-error.ts';
import { hiddenStatus } from './planner.ts';

/** How a task is to end. */
export interface Ending {
  id: string;
  api_key_id: string;
  /** The claim that speaks; null: whoever holds it (a user's cancel, the deadline). */
  attempt: number | null;
  /** Only if the claim's lease has lapsed: the sweep speaking of a lost worker. */
  lapsed?: boolean;
  outcome: { status: 'succeeded'; result: StoredOutput[] } | { status: 'failed'; error: TaskError };
}

/** What a module above writes in the commit that ends tasks. */
export interface Addition {
  statement: Statement & { values: unknown[] };
  /** @param rows what the statement gave */
  afterCommit(rows: object[]): void;
}

/**
 * Asked for its addition while tasks end. What it has to read it reads by `tx`, at once, so that the question travels with the
 * statement that ends them.
 * @param apiKeyIds of the tasks that are to end
 * @returns null when there is nothing to add, whichever of them end
 */
export type EndingCompanion = (tx: Tx, apiKeyIds: string[]) => Promise<((ended: Task[]) => Addition | null) | null>;

/**
 * Only from queued or running, and with an attempt only by the claim that holds the task: of a finish and a cancel
 * that race, one finds its row and the other finds none. Locks tasks -> key_load, each in order.
 */
const END: Statement = {
  name: 'tasks.end',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(
        id text, attempt int, lapsed boolean, status text, result json, error json)
    ), held as (
      select t.id, t.status as was, w.status, w.result, w.error from tasks t join wanted w using (id)
      where ${hiddenStatus('t')} in ('queued', 'running')
        and (w.attempt is null or (${hiddenStatus('t')} = 'running' and t.attempt = w.attempt))
        and (w.lapsed is not true or t.lease_until < now())
      order by t.id for update of t
    ), ended as (
      update tasks t
      set status = h.status, result = h.result, error = h.error, completed_at = now(), sequence = t.sequence + 1,
          progress = case when h.status = 'succeeded' then 100
                          when h.error->>'code' = 'task_cancelled' then 0 else t.progress end,
          files_expire_at = case when h.status = 'succeeded' then least(now() + make_interval(secs => $2), t.expires_at) end,
          lease_until = null, parked = false
      from held h where t.id = h.id
      returning t.*, h.was
    ), freed as (
      select api_key_id, count(*) filter (where was = 'queued') as queued,
             count(*) filter (where was = 'running') as running
      from ended group by api_key_id
    ), load as (
      select api_key_id from key_load where api_key_id in (select api_key_id from freed) order by api_key_id for update
    ), counted as (
      update key_load l set queued = l.queued - f.queued, running = l.running - f.running
      from freed f, load where l.api_key_id = f.api_key_id and load.api_key_id = f.api_key_id
    )
    select * from ended`,
};

@Injectable()
export class EndTasks {
  private readonly batch = new Batch<Ending, Task | null>((endings) => this.flush(endings), { maxItems: 200 });
  private readonly companions: EndingCompanion[] = [];

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** What must be true together with a task's end is written by `companion` in the same commit. */
  accompany(companion: EndingCompanion): void {
    this.companions.push(companion);
  }

  /** null when the task had ended already, or another claim holds it: its word stands. */
  end(ending: Ending): Promise<Task | null> {
    return this.batch.add(ending);
  }

  private async flush(endings: Ending[]): Promise<(Task | null)[]> {
    const first = new Map<string, Ending>();
    for (const ending of endings) if (!first.has(ending.id)) first.set(ending.id, ending);
    const rows = [...first.values()];
    const { ended, afterCommit } = await this.sql.transaction((tx, commit) => this.write(tx, commit, rows));
    afterCommit();

    const byId = new Map(ended.map((task) => [task.id, task]));
    return endings.map((ending) => (first.get(ending.id) === ending ? (byId.get(ending.id) ?? null) : null));
  }

  /** Two round trips, however much is added: the question with its companions', then the additions with the commit. */
  private async write(
    tx: Tx,
    commit: () => void,
    endings: Ending[],
  ): Promise<{ ended: Task[]; afterCommit: () => void }> {
    const rows = endings.map(({ id, attempt, lapsed, outcome }) => ({ id, attempt, lapsed, ...outcome }));
    const values = [JSON.stringify(rows), this.config.fileRetentionDays * DAY_S];
    const apiKeyIds = [...new Set(endings.map((ending) => ending.api_key_id))];
    const [{ rows: ended }, ...answers] = await Promise.all([
      tx.query<Task>({ ...END, values }),
      ...this.companions.map((companion) => companion(tx, apiKeyIds)),
    ]);

    const additions = ended.length > 0 ? answers.flatMap((addTo) => addTo?.(ended) ?? []) : [];
    const written = additions.map(({ statement }) => tx.query<object>(statement));
    commit();
    const results = await Promise.all(written);
    return {
      ended,
      afterCommit: () => additions.forEach((addition, at) => addition.afterCommit(results[at]?.rows ?? [])),
    };
  }
}
