import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Sql, type Statement } from '../../../platform/database/sql.ts';
import { ErasureSteps } from '../erasure-steps.ts';
import type { ErasureWork } from '../erasure-work.ts';
import { readThrough } from '../read-through.ts';

/** The maximum number of sessions or audit events in one piece. */
const ROWS = 1_000;

const DELETE_CODES: Statement = {
  name: 'erasures.delete_codes',
  text: `
    delete from one_time_codes c using api_key_secrets s where s.hash = c.secret_hash and s.api_key_id = $1`,
};
const DELETE_SESSIONS: Statement = {
  name: 'erasures.delete_sessions',
  text: `delete from sessions where id = any(array(select id from sessions where api_key_id = $1 limit ${ROWS}))`,
};

/** Reads one piece of the table in the order of the ids, because no index has the actor. */
const SEE_EVENTS: Statement = {
  name: 'erasures.see_audit_events',
  text: `
    with seen as (select id, actor_id, target_id from audit_events where id > $2 order by id limit ${ROWS})
    select max(id) as last, array_agg(id) filter (where actor_id = $1 or target_id = $1) as ids from seen`,
};

/**
 * Keeps what was done and when. Removes the key's name and the hint of its secret. Removes the address, the browser,
 * the session and the request id from the acts of the key itself.
 */
const BLANK_EVENTS: Statement = {
  name: 'erasures.blank_audit_events',
  text: `
    update audit_events
    set before = case when target_id = $1 then before - '{name,hint}'::text[] else before end,
        after = case when target_id = $1 then after - '{name,hint}'::text[] else after end,
        ip = case when actor_id = $1 then null else ip end,
        request_id = case when actor_id = $1 then null else request_id end,
        session_id = case when actor_id = $1 then null else session_id end,
        user_agent = case when actor_id = $1 then null else user_agent end
    where id = any($2::text[])`,
};

/**
 * Erases the data of an API key in the tables of this module. Raw SQL because each piece has a bounded number of rows.
 */
@Injectable()
export class EraseAuthRows implements OnModuleInit {
  constructor(
    private readonly sql: Sql,
    private readonly steps: ErasureSteps,
  ) {}

  onModuleInit(): void {
    this.steps.register('sessions', (work) => this.eraseSessions(work));
    this.steps.register('audit_events', (work) =>
      readThrough(this.sql, work, SEE_EVENTS, async (tx, ids) => {
        const { rowCount } = await tx.query({ ...BLANK_EVENTS, values: [work.apiKeyId, ids] });
        return { audit_events: rowCount ?? 0 };
      }),
    );
  }

  private async eraseSessions(work: ErasureWork): Promise<'done'> {
    await work.repeat(async (tx) => {
      await tx.query({ ...DELETE_CODES, values: [work.apiKeyId] });
      const { rowCount } = await tx.query({ ...DELETE_SESSIONS, values: [work.apiKeyId] });
      const sessions = rowCount ?? 0;
      return { erased: { sessions }, mayBeMore: sessions === ROWS };
    });
    return 'done';
  }
}
