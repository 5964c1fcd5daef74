import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { Approximation } from '../task.entity.ts';
import type { LeaseRef } from './renew-leases.ts';
import { hiddenStatus } from './planner.ts';

/** Who serves the task, pinned before anything is spent. */
export interface Submission {
  provider: string;
  /** Its base URL. */
  url: string;
  /** The provider's own name of it. */
  model: string;
  /** The name of the environment variable that holds the key. */
  credential: string | null;
  approximations: Approximation[];
  /** Tasks that this address and credential serve at once, over all processes; null = no bound. */
  concurrency: number | null;
}

/** `full`: the provider serves as many as it may; nothing was written. */
export type Intent = 'committed' | 'full' | 'lost';

/** Taken first, so that the count below sees every intent before ours. */
const GATE: Statement = {
  name: 'tasks.provider_gate',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
};

/** A task keeps its place until it ends, whoever holds it: the upstream is at work on it. */
const INTENT: Statement = {
  name: 'tasks.record_submit_intent',
  text: `
    with busy as (
      select count(*) as tasks from tasks
      where status = 'running' and submitted_at is not null
        and provider = $3 and credential is not distinct from $4 and provider_url = $7 and id <> $1
    ), noted as (
      update tasks set provider = $3, credential = $4, provider_url = $7, provider_model = $8, submitted_at = now(), upstream_id = null,
             upstream_request_id = null, approximations = $5::json
      where id = $1 and attempt = $2 and ${hiddenStatus('tasks')} = 'running' and ($6::int is null or (select tasks from busy) < $6::int)
      returning id
    )
    select (select count(*) from noted)::int as noted,
           exists (select 1 from tasks where id = $1 and attempt = $2 and ${hiddenStatus('tasks')} = 'running') as held`,
};

const ACCEPTED: Statement = {
  name: 'tasks.record_upstream_id',
  text: `
    update tasks set upstream_id = $3, upstream_request_id = $4
    where id = $1 and attempt = $2 and ${hiddenStatus('tasks')} = 'running' returning id`,
};

/** Nothing was accepted: the next provider may be asked. */
const WITHDRAWN: Statement = {
  name: 'tasks.withdraw_submit_intent',
  text: `
    update tasks set submitted_at = null where id = $1 and attempt = $2 and ${hiddenStatus('tasks')} = 'running' returning id`,
};

/**
 * Submit once: the intent is committed before the paid call, the upstream's id before the first poll. Each answers
 * whether the claim still holds; without it the caller stops.
 */
@Injectable()
export class RecordSubmit {
  constructor(private readonly sql: Sql) {}

  async intent(hold: LeaseRef, submission: Submission): Promise<Intent> {
    const { provider, url, model, credential, approximations, concurrency } = submission;
    const noted = approximations.length > 0 ? JSON.stringify(approximations) : null;
    const values = [hold.id, hold.attempt, provider, credential, noted, concurrency, url, model];
    const [row] =
      concurrency === null
        ? await this.sql.run<{ noted: number; held: boolean }>(INTENT, values)
        : await this.sql.transaction(async (tx) => {
            await tx.query({ ...GATE, values: [`provider ${provider} ${url} ${credential}`] });
            return (await tx.query<{ noted: number; held: boolean }>({ ...INTENT, values })).rows;
          });
    if (row?.noted === 1) return 'committed';
    return row?.held ? 'full' : 'lost';
  }

  async accepted(hold: LeaseRef, upstreamId: string, requestId: string | null = null): Promise<boolean> {
    return this.held(ACCEPTED, [hold.id, hold.attempt, upstreamId, requestId]);
  }

  async withdrawn(hold: LeaseRef): Promise<boolean> {
    return this.held(WITHDRAWN, [hold.id, hold.attempt]);
  }

  private async held(statement: Statement, values: unknown[]): Promise<boolean> {
    return (await this.sql.run(statement, values)).length === 1;
  }
}
