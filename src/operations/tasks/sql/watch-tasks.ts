import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../../platform/database/sql.ts';
import {
  type Suspicion,
  type TaskSelection,
  WATCHED_COLUMNS,
  type WatchedState,
  type WatchedTask,
} from '../watched-task.ts';
import { FREE_PLACES } from '../../../tasks/record/free-places.ts';
import { IN_FORCE } from '../../../tasks/record/pause.entity.ts';

const COLUMNS = WATCHED_COLUMNS.map((name) => `t.${name}`).join(', ');

/** Seconds for which a state still counts as normal, because a sweep or a claim may be about to change it. */
const GRACE_S = 10;

/**
 * SQL: whether a lease has lapsed. The release of a task sets its lease to a time in 1970. That is no lapse: the task
 * waits for a free worker.
 */
const LAPSED = `lease_until between '1970-01-03' and now() - interval '${GRACE_S} seconds'`;

/** SQL: why a task seems stuck. A run of a model in $6 is suspicious after the seconds in $7. */
const STUCK = `case
      when t.status = 'running' and ${LAPSED} then 'lease_lapsed'
      when t.status = 'running' and t.started_at < now() - make_interval(secs => (
        select max(u.seconds) from unnest($6::text[], $7::float8[]) u(model, seconds) where u.model = t.model)) then 'over_time'
      when t.status = 'queued' and t.parked and t.created_at < now() - interval '${GRACE_S} seconds' and case
        when t.paused_by is null then exists (
          select 1 from key_load l where l.api_key_id = t.api_key_id and ${FREE_PLACES} > 0)
        else not exists (select 1 from pauses p where p.id = t.paused_by and ${IN_FORCE}) end then 'parked_without_reason'
      end`;

const STATES: Record<WatchedState, string> = {
  waiting: `t.status = 'queued' and not t.parked`,
  parked: `t.status = 'queued' and t.parked and t.paused_by is null`,
  paused: `t.status = 'queued' and t.parked and t.paused_by is not null`,
  running: `t.status = 'running'`,
  stuck: `t.stuck is not null`,
};

/** Lists the unfinished tasks that match the parameters, oldest first. */
const list = (state: WatchedState | null): Statement => ({
  name: `tasks.watch_${state ?? 'all'}`,
  text: `
    select t.* from (
      select ${COLUMNS}, t.error->>'code' as error_code, ${STUCK} as stuck
      from tasks t
      where t.status in ('queued', 'running') and ($1::text is null or t.worker_id = $1) and ($2::text is null or t.provider = $2)
        and ($3::text is null or t.api_key_id = $3) and ($4::text is null or t.model = $4) and ($5::text is null or t.id > $5)
    ) t
    where ${state ? STATES[state] : 'true'}
    order by t.id limit $8`,
});
const LIST_ALL = list(null);
const LISTS = {
  waiting: list('waiting'),
  parked: list('parked'),
  paused: list('paused'),
  running: list('running'),
  stuck: list('stuck'),
};

const READ: Statement = {
  name: 'tasks.watch',
  text: `
    select ${COLUMNS}, t.error->>'code' as error_code, ${STUCK} as stuck
    from tasks t where t.id = any($1::text[]) and ($2::text is null) and ($3::text is null) and ($4::text is null)
      and ($5::text is null) order by t.id`,
};

/** Raw SQL because the statements also read other tables to tell why a task seems stuck. */
@Injectable()
export class WatchTasks {
  constructor(private readonly sql: Sql) {}

  /** The unfinished tasks of all keys that match the selection, oldest first. */
  list(
    { state, worker_id, provider, api_key_id, model }: TaskSelection,
    { models, seconds }: Suspicion,
    page: { after: string | null; limit: number },
  ): Promise<WatchedTask[]> {
    const statement = state ? LISTS[state] : LIST_ALL;
    const wanted = [worker_id ?? null, provider ?? null, api_key_id ?? null, model ?? null, page.after];
    return this.sql.run<WatchedTask>(statement, [...wanted, models, seconds, page.limit]);
  }

  /** Reads the tasks with these ids, also tasks that have ended. */
  read(ids: string[], { models, seconds }: Suspicion): Promise<WatchedTask[]> {
    return this.sql.run<WatchedTask>(READ, [ids, null, null, null, null, models, seconds]);
  }
}
