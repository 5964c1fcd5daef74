import { Injectable } from '@nestjs/common';
import { hidden } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { LeaseRef } from '../queue/lease.ts';
import type { Submission, SubmitIntent } from '../queue/submission.ts';

const IS_RUNNING = `${hidden('tasks.status')} = 'running'`;

/** Taken before the intent, so that its count sees every earlier intent for the same provider. */
const GATE: Statement = {
  name: 'tasks.provider_gate',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
};

/** A task counts against the provider's concurrency until it ends, even between claims: the upstream is working on it. */
const FULL: Statement = {
  name: 'tasks.is_provider_full',
  text: `
    select count(*)::int as tasks from tasks
    where status = 'running' and submitted_at is not null
      and provider = $2 and credential is not distinct from $3 and provider_url = $4 and id <> $1`,
};

const INTENT: Statement = {
  name: 'tasks.record_submit_intent',
  text: `
    with busy as (
      select count(*) as tasks from tasks
      where status = 'running' and submitted_at is not null
        and provider = $3 and credential is not distinct from $4 and provider_url = $7 and id <> $1
    ), noted as (
      update tasks set provider = $3, credential = $4, provider_url = $7, provider_model = $8, submitted_at = now(),
             upstream_id = null, upstream_request_id = null, approximations = $5::json
      where id = $1 and attempt = $2 and ${IS_RUNNING} and ($6::int is null or (select tasks from busy) < $6::int)
      returning id
    )
    select (select count(*) from noted)::int as noted,
           exists (select 1 from tasks where id = $1 and attempt = $2 and ${IS_RUNNING}) as held`,
};

const ACCEPTED: Statement = {
  name: 'tasks.record_upstream_id',
  text: `
    update tasks set upstream_id = $3, upstream_request_id = $4
    where id = $1 and attempt = $2 and ${IS_RUNNING} returning id`,
};

const WITHDRAWN: Statement = {
  name: 'tasks.withdraw_submit_intent',
  text: `update tasks set submitted_at = null where id = $1 and attempt = $2 and ${IS_RUNNING} returning id`,
};

/**
 * Submit once: the intent is committed before the paid call, the upstream's id before the first poll. Raw SQL because the
 * concurrency count, the fence (`attempt`) and the write must be one statement.
 */
@Injectable()
export class RecordSubmit {
  constructor(private readonly sql: Sql) {}

  async intent(lease: LeaseRef, submission: Submission): Promise<SubmitIntent> {
    const { provider, url, model, credential, approximations, concurrency } = submission;
    const noted = approximations.length > 0 ? JSON.stringify(approximations) : null;
    const values = [lease.id, lease.attempt, provider, credential, noted, concurrency, url, model];
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

  async isFull({ id }: LeaseRef, { provider, url, credential, concurrency }: Submission): Promise<boolean> {
    if (concurrency === null) return false;
    const [busy] = await this.sql.run<{ tasks: number }>(FULL, [id, provider, credential, url]);
    return (busy?.tasks ?? 0) >= concurrency;
  }

  /** @returns whether the lease still holds; if not, the caller must stop */
  async accepted(lease: LeaseRef, upstreamId: string, requestId: string | null): Promise<boolean> {
    return this.isHeldAfter(ACCEPTED, [lease.id, lease.attempt, upstreamId, requestId]);
  }

  /** The upstream accepted nothing. @returns whether the lease still holds; if not, the caller must stop */
  async withdrawn(lease: LeaseRef): Promise<boolean> {
    return this.isHeldAfter(WITHDRAWN, [lease.id, lease.attempt]);
  }

  private async isHeldAfter(statement: Statement, values: unknown[]): Promise<boolean> {
    return (await this.sql.run(statement, values)).length === 1;
  }
}
