import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Sql, type Statement } from '../../../platform/database/sql.ts';
import type { OperatorLevels } from '../../../platform/config/log-levels.ts';
import type { ProcessActivity } from '../../activity/activity.ts';
import type { ProcessRow } from '../process.entity.ts';
import { FORGOTTEN_AFTER_S, LATE_AFTER_S, LOST_AFTER_S, type ProcessState } from '../process-state.ts';

/**
 * SQL: the state of a row of `processes`, by the clock of the database. A draining process is drained when its last
 * task has ended.
 */
export const STATE = `case
      when last_seen_at < now() - interval '${LOST_AFTER_S} seconds' then 'lost'
      when draining and busy = 0 then 'drained'
      when draining or drain_requested then 'draining'
      when last_seen_at < now() - interval '${LATE_AFTER_S} seconds' then 'late'
      else 'live' end`;

/**
 * Updates the row of the process. Inserts it again if it was deleted while the process was frozen, with the drain
 * request that the process knew. Also reads the log levels, so that a process needs no second statement.
 */
const RENEW: Statement = {
  name: 'operations.beat',
  text: `
    insert into processes (id, role, version, host, started_at, last_seen_at, slots, busy, drain_requested, draining,
                           lease_margin_s, circuits, activity)
    values ($1, $2, $3, $4, now() - make_interval(secs => $5), now(), $6, $7, $8, $9, $10, $11::jsonb,
            coalesce($12::jsonb, '{}'))
    on conflict (id) do update
      set role = excluded.role, last_seen_at = now(), slots = excluded.slots, busy = excluded.busy,
          draining = excluded.draining, lease_margin_s = excluded.lease_margin_s, circuits = excluded.circuits,
          activity = coalesce($12::jsonb, processes.activity)
    returning drain_requested,
      (select json_build_object('logLevel', log_level, 'logLevels', log_levels) from log_levels) as levels`,
};

const LEAVE: Statement = { name: 'operations.leave', text: 'delete from processes where id = $1' };

const FORGET: Statement = {
  name: 'operations.forget_processes',
  text: `delete from processes where last_seen_at < now() - interval '${FORGOTTEN_AFTER_S} seconds'`,
};

const LIST: Statement = {
  name: 'operations.list_processes',
  text: `select *, ${STATE} as state from processes order by role, started_at, id`,
};

const FIND: Statement = {
  name: 'operations.find_process',
  text: `select *, ${STATE} as state from processes where id = $1`,
};

/** What a process reports about itself. */
export type ProcessReport = Pick<
  ProcessRow,
  'id' | 'role' | 'version' | 'host' | 'slots' | 'busy' | 'drain_requested' | 'draining' | 'lease_margin_s' | 'circuits'
> & {
  uptime_s: number;
  /** null: the activity that was published last stays. */
  activity: ProcessActivity | null;
};

/** What operators ask of a process. */
export interface Asked {
  drain_requested: boolean;
  /** null if operators have set none. */
  levels: OperatorLevels | null;
}

export type SeenProcess = ProcessRow & { state: ProcessState };

/** Raw SQL because the times and states follow the database's clock. */
@Injectable()
export class ProcessRows {
  constructor(private readonly sql: Sql) {}

  async renew(report: ProcessReport): Promise<Asked> {
    const { id, role, version, host, uptime_s, slots, busy, drain_requested, draining, lease_margin_s } = report;
    const who = [id, role, version, host, uptime_s];
    const does = [slots, busy, drain_requested, draining, lease_margin_s, JSON.stringify(report.circuits)];
    const activity = report.activity && JSON.stringify(report.activity);
    const [row] = await this.sql.run<Asked>(RENEW, [...who, ...does, activity]);
    return row!;
  }

  /** Deletes the row of a process that stops. */
  async leave(id: string): Promise<void> {
    await this.sql.run(LEAVE, [id]);
  }

  async forgetLost(): Promise<void> {
    await this.sql.run(FORGET);
  }

  list(): Promise<SeenProcess[]> {
    return this.sql.run<SeenProcess>(LIST);
  }

  async find(id: string): Promise<SeenProcess | null> {
    const [row] = await this.sql.run<SeenProcess>(FIND, [id]);
    return row ?? null;
  }
}

const REQUEST_DRAIN = `
  update processes p set drain_requested = $2 from (select * from processes where id = $1 for update) was
  where p.id = was.id returning was.role, was.drain_requested`;

/** @returns the values before the update; null if there is no such row */
export async function requestDrain(
  tx: EntityManager,
  id: string,
  on: boolean,
): Promise<Pick<ProcessRow, 'role' | 'drain_requested'> | null> {
  const [rows] = await tx.query<[Pick<ProcessRow, 'role' | 'drain_requested'>[], number]>(REQUEST_DRAIN, [id, on]);
  return rows[0] ?? null;
}
