import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Batch } from '../../platform/database/batch.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { LeaseRef } from '../record/lease.ts';
import { withMoments } from './add-moments.ts';
import { isLocked, locked } from './locked-rows.ts';
import { AT_ONCE } from './renew-leases.ts';
import type { LostSubmit, Place, Submission, SubmitIntent } from '../record/submission.ts';
import type { Approximation } from '../record/task.entity.ts';

/**
 * SQL: a timeline with added moments.
 * @param moments SQL of the moments as JSON; null if there are none
 */
const addedTo = (timeline: string, moments: string): string =>
  `case when ${moments} is null then ${timeline} else ${withMoments(timeline, moments)} end`;
/**
 * SQL: the timeline with added moments.
 * @param moments a parameter, such as `$4`
 */
const added = (moments: string): string => addedTo('timeline', `${moments}::jsonb`);

/**
 * The lock is taken before the intent is recorded. So the count in LIMITED_INTENT sees every earlier intent for the
 * same place.
 */
const GATE: Statement = {
  name: 'tasks.provider_gate',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
};

/**
 * SQL: whether a task was submitted to this provider with this credential at this URL. The condition on `lease_until`
 * lets PostgreSQL use the small index of tasks with a lease.
 */
const atPlace = (provider: string, credential: string, url: string): string =>
  `lease_until is not null and submitted_at is not null
      and provider = ${provider} and credential is not distinct from ${credential} and provider_url = ${url}`;

/**
 * Counts the tasks at a place. A task counts until it ends or its intent is withdrawn, even between two claims, because
 * the provider works on it.
 */
const FULL: Statement = {
  name: 'tasks.is_provider_full',
  text: `
    select count(*)::int as tasks from tasks_live where ${atPlace('$2', '$3', '$4')} and id <> $1`,
};

/** Counts the tasks of a model at each of the given addresses of a provider. Addresses without tasks are left out. */
const AT_ADDRESSES: Statement = {
  name: 'tasks.count_at_addresses',
  text: `
    select provider_url as url, count(*)::int as tasks from tasks_live
    where lease_until is not null and submitted_at is not null and model = $1 and provider = $2 and provider_url = any($3)
    group by provider_url`,
};

const RECORDED = `
  provider = w.provider, credential = w.credential, provider_url = w.url, provider_model = w.model, submitted_at = now(),
  upstream_id = null, upstream_request_id = null, approximations = w.approximations, price = w.price,
  submits = t.submits + case when t.submitted_at is null then w.calls else 0 end, timeline = ${addedTo('t.timeline', 'w.moments')}`;

/** SQL: `wanted` has the intents in $1, a JSON array; `locked` locks their tasks. */
const HELD = `
  wanted as (
    select * from json_to_recordset($1::json) as w(id text, attempt int, provider text, credential text, url text, model text,
      approximations json, price json, calls int, moments jsonb)
  ), ${locked('$2')}`;

const HOLDS = `${isLocked()} and t.attempt = w.attempt`;

const INTENTS: Statement = {
  name: 'tasks.record_submit_intents',
  text: `
    with ${HELD}
    update tasks_live t set ${RECORDED} from wanted w where ${HOLDS} returning t.id, t.attempt`,
};

/** Records one intent, for a provider with a limit ($6). */
const LIMITED_INTENT: Statement = {
  name: 'tasks.record_limited_intent',
  text: `
    with ${HELD}, busy as (
      select count(*) as tasks from tasks_live
      where ${atPlace('$3', '$4', '$5')} and id <> all (select id from wanted)
    ), noted as (
      update tasks_live t set ${RECORDED} from wanted w
      where ${HOLDS} and (select tasks from busy) < $6::int returning t.id
    )
    select id, exists (select from noted) as noted from locked join wanted using (id, attempt)`,
};

/**
 * SQL: how many jobs an upstream id lists, separated by commas. Each job was one paid call; the intent has counted the
 * first.
 */
const jobsIn = (ids: string): string => `coalesce(cardinality(string_to_array(${ids}, ',')), 1)`;

/** SQL: whether a paid call was announced, and the id of its job is not known. `?` stands for that id in a list of jobs. */
export const IS_CALLING = `submitted_at is not null and (upstream_id is null or upstream_id like '%?')`;

/**
 * Records the id even if the task was taken away from the worker during its call, as long as no other worker has
 * claimed the task, or one that has given it back has made a call elsewhere. The next claim then need not wait for the
 * call.
 */
const ACCEPTED: Statement = {
  name: 'tasks.record_upstream_id',
  text: `
    update tasks_live set upstream_id = $3, upstream_request_id = $4,
           submits = submits + ${jobsIn('$3::text')} - ${jobsIn('upstream_id')}, timeline = ${added('$5')},
           lease_until = case when attempt = $2 then lease_until else ${AT_ONCE} end
    where id = $1 and (attempt = $2 or (attempt = $2 + 1 and worker_id is null and ${IS_CALLING}
                                           and provider = $6 and provider_url = $7))
    returning attempt = $2 as held`,
};

const CALLED_AGAIN: Statement = {
  name: 'tasks.count_further_call',
  text: `update tasks_live set submits = submits + 1 where id = $1 and attempt = $2 returning id`,
};

const APPROXIMATED: Statement = {
  name: 'tasks.record_approximations',
  text: `update tasks_live set approximations = $3::json where id = $1 and attempt = $2 returning id`,
};

/**
 * Takes an intent back. With $3 the call may have been charged, so it counts as a lost call at its full price. Without
 * $3 the provider accepted nothing, so the call does not count.
 */
const WITHDRAWN: Statement = {
  name: 'tasks.withdraw_submit_intent',
  text: `
    update tasks_live set submitted_at = null, upstream_id = null, upstream_request_id = null, price = null,
           submits = case when $3 then submits else lost_submits end,
           lost_submits = case when $3 then submits else lost_submits end,
           lost_micros = lost_micros + case when $3 then coalesce((price->>'full')::bigint, 0) else 0 end,
           timeline = ${added('$4')}
    where id = $1 and attempt = $2 returning id`,
};

const LOST: Statement = {
  name: 'tasks.count_lost_job',
  text: `
    with counted as (
      update tasks_live set losses = losses + 1
      where id = $1 and attempt = $2 and losses + 1 < $3 returning id
    )
    select (select count(*) from counted)::int as counted,
           exists (select from tasks_live where id = $1 and attempt = $2) as held`,
};

interface Intent {
  lease: LeaseRef;
  submission: Submission;
  /** Moments to add, as JSON; null if there are none. */
  moments: string | null;
}

const toJson = (intents: Intent[]): string =>
  JSON.stringify(
    intents.map(({ lease, submission, moments }) => ({
      id: lease.id,
      attempt: lease.attempt,
      provider: submission.provider,
      credential: submission.credential,
      url: submission.url,
      model: submission.model,
      approximations: submission.approximations.length > 0 ? submission.approximations : null,
      price: submission.price,
      calls: submission.calls,
      moments: moments === null ? null : (JSON.parse(moments) as unknown),
    })),
  );

const valuesOf = (intents: Intent[]): unknown[] => [toJson(intents), intents.map(({ lease }) => lease.id)];

/**
 * Records submits, so that each happens once: the intent is committed before the paid call, the upstream's id before
 * the first poll. Raw SQL because one statement must count, check `attempt` and write.
 */
@Injectable()
export class RecordSubmit {
  /** Intents for providers without a limit. */
  private readonly intents = new Batch<Intent, SubmitIntent>((intents) => this.flushIntents(intents), {
    name: 'tasks.submit_intents',
  });

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  async intent(lease: LeaseRef, submission: Submission, moments: string | null): Promise<SubmitIntent> {
    const intent = { lease, submission, moments };
    return submission.concurrency === null ? this.intents.add(intent) : this.limitedIntent(intent);
  }

  private async flushIntents(intents: Intent[]): Promise<SubmitIntent[]> {
    const noted = await this.sql.run<LeaseRef>(INTENTS, valuesOf(intents));
    const attempts = new Map(noted.map(({ id, attempt }) => [id, attempt]));
    // A batch may have two intents for the same task, one of them of a claim that is over.
    return intents.map(({ lease }) => (attempts.get(lease.id) === lease.attempt ? 'committed' : 'lost'));
  }

  private async limitedIntent(intent: Intent): Promise<SubmitIntent> {
    const { provider, url, credential, concurrency } = intent.submission;
    const [held] = await this.sql.transaction(async (tx) => {
      await tx.query({ ...GATE, values: [`provider ${provider} ${url} ${credential}`] });
      const values = [...valuesOf([intent]), provider, credential, url, concurrency];
      return (await tx.query<{ noted: boolean }>({ ...LIMITED_INTENT, values })).rows;
    });
    if (!held) return 'lost';
    return held.noted ? 'committed' : 'full';
  }

  async isFull({ id }: LeaseRef, { provider, url, credential, concurrency }: Place): Promise<boolean> {
    if (concurrency === null) return false;
    const [busy] = await this.sql.run<{ tasks: number }>(FULL, [id, provider, credential, url]);
    return (busy?.tasks ?? 0) >= concurrency;
  }

  /** Counts tasks of all processes, between claims too. @returns only addresses that have tasks */
  async tasksAt(model: string, provider: string, urls: string[]): Promise<Map<string, number>> {
    const rows = await this.sql.run<{ url: string; tasks: number }>(AT_ADDRESSES, [model, provider, urls]);
    return new Map(rows.map(({ url, tasks }) => [url, tasks]));
  }

  /**
   * @param place where the call was made; null if the lease must hold
   * @returns whether the lease still holds; if not, the caller must stop
   */
  async accepted(
    lease: LeaseRef,
    upstreamId: string,
    requestId: string | null,
    moments: string | null,
    place: Pick<Place, 'provider' | 'url'> | null,
  ): Promise<boolean> {
    const values = [lease.id, lease.attempt, upstreamId, requestId, moments, place?.provider, place?.url];
    const [row] = await this.sql.run<{ held: boolean }>(ACCEPTED, values);
    return row?.held ?? false;
  }

  /**
   * Counts a paid call that the intent has not announced.
   * @returns whether the lease still holds; if not, the caller must stop
   */
  async calledAgain(lease: LeaseRef): Promise<boolean> {
    return this.isHeldAfter(CALLED_AGAIN, [lease.id, lease.attempt]);
  }

  /**
   * Records approximations that the intent has not recorded.
   * @returns whether the lease still holds; if not, the caller must stop
   */
  async approximated(lease: LeaseRef, approximations: Approximation[]): Promise<boolean> {
    return this.isHeldAfter(APPROXIMATED, [lease.id, lease.attempt, JSON.stringify(approximations)]);
  }

  /**
   * @param mayBeCharged whether the upstream may have accepted the call; false: it certainly accepted nothing
   * @returns whether the lease still holds; if not, the caller must stop
   */
  async withdrawn(lease: LeaseRef, mayBeCharged: boolean, moments: string | null): Promise<boolean> {
    return this.isHeldAfter(WITHDRAWN, [lease.id, lease.attempt, mayBeCharged, moments]);
  }

  /** Call when the upstream has lost the job, which cost nothing. */
  async lost({ id, attempt }: LeaseRef): Promise<LostSubmit> {
    const values = [id, attempt, this.config.taskMaxAttempts];
    const [row] = await this.sql.run<{ counted: number; held: boolean }>(LOST, values);
    if (row?.counted === 1) return 'counted';
    return row?.held ? 'last' : 'lost';
  }

  private async isHeldAfter(statement: Statement, values: unknown[]): Promise<boolean> {
    return (await this.sql.run(statement, values)).length === 1;
  }
}
