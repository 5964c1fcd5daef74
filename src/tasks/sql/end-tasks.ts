import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import type { ApiError } from '../../errors/api-error.ts';
import { hidden } from '../../platform/database/planner.ts';
import { Sql, type Statement, type Tx } from '../../platform/database/sql.ts';
import { DAY_S } from '../../platform/time.ts';
import { type EndHook, type Ending, LONGEST_END_MS } from '../queue/ending.ts';
import type { Task } from '../task.entity.ts';
import { BatchByKey, type LockWait, lockWait } from './batch-by-key.ts';

/**
 * Ends only queued or running tasks, and with an `attempt` only those that this claim holds: when a finish and a cancel
 * race, one finds the row and the other does not. Locks tasks -> key_load, each in order.
 */
const END: Statement = {
  name: 'tasks.end',
  text: `
    with wanted as (
      select * from json_to_recordset($1::json) as w(
        id text, attempt int, lapsed boolean, status text, result json, error json), ${lockWait('$3')}
    ), held as (
      select t.id, t.status as was, w.status, w.result, w.error from tasks t join wanted w using (id)
      where ${hidden('t.status')} in ('queued', 'running')
        and (w.attempt is null or (${hidden('t.status')} = 'running' and t.attempt = w.attempt))
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

/** The code is that of an outage, so that the worker tries again. */
class EndTooSlow extends Error {
  readonly code = 'ETIMEDOUT';

  constructor() {
    super(`Ending the tasks took longer than ${LONGEST_END_MS} ms.`);
  }
}

/** Raw SQL because ends are batched: the rows, the counters of their keys and the writes of the hooks are one commit. */
@Injectable()
export class EndTasks {
  private readonly batch = new BatchByKey<Ending, Task | null>((endings, wait) => this.flush(endings, wait), {
    maxItems: 200,
  });
  private readonly hooks: EndHook[] = [];

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** @param hook writes in the same commit as the ends */
  registerHook(hook: EndHook): void {
    this.hooks.push(hook);
  }

  /** @returns null when the task had ended already or another claim holds it; the earlier outcome stays */
  end(ending: Ending): Promise<Task | null> {
    return this.batch.add(ending);
  }

  private async flush(endings: Ending[], wait: LockWait): Promise<(Task | null | ApiError)[]> {
    const first = new Map<string, Ending>();
    for (const ending of endings) if (!first.has(ending.id)) first.set(ending.id, ending);
    const rows = [...first.values()];
    const values = [toJson(rows), this.config.fileRetentionDays * DAY_S, wait];
    const keys = [...new Set(rows.map((ending) => ending.api_key_id))];
    const { ended, afterCommit } = await this.sql.transaction((tx, commit) => this.write(tx, commit, values, keys));
    afterCommit();

    const byId = new Map(ended.map((task) => [task.id, task]));
    return endings.map((ending) => (first.get(ending.id) === ending ? (byId.get(ending.id) ?? null) : null));
  }

  /** Two round trips however many hooks there are: END with the hooks' reads, then the hooks' writes with the commit. */
  private async write(
    tx: Tx,
    commit: () => void,
    values: unknown[],
    apiKeyIds: string[],
  ): Promise<{ ended: Task[]; afterCommit: () => void }> {
    const begunMs = performance.now();
    const [{ rows: ended }, ...prepared] = await Promise.all([
      tx.query<Task>({ ...END, values }),
      ...this.hooks.map((hook) => hook(tx, apiKeyIds)),
    ]);

    if (performance.now() - begunMs > LONGEST_END_MS) throw new EndTooSlow();

    const writes = ended.length > 0 ? prepared.flatMap((writeFor) => writeFor?.(ended) ?? []) : [];
    const sent = writes.map(({ statement }) => tx.query<object>(statement));
    commit();
    const results = await Promise.all(sent);
    return {
      ended,
      afterCommit: () => writes.forEach((write, at) => write.afterCommit(results[at]?.rows ?? [])),
    };
  }
}

const toJson = (endings: Ending[]): string =>
  JSON.stringify(endings.map(({ id, attempt, lapsed, outcome }) => ({ id, attempt, lapsed, ...outcome })));
