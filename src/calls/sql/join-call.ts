import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';

/** A retry may join a call that is at most this old. */
const JOINABLE = `interval '30 minutes'`;
/**
 * Length of the lease by which a waiting connection holds its call, in seconds. A process that died does not renew its
 * leases.
 */
export const JOIN_LEASE_S = 30;
/**
 * SQL: whether the task of a call was cancelled more than 10 seconds ago. A client that calls again then wants a new
 * task. The subquery is planned for one row, so it does not scan all finished tasks.
 */
export const CANCELLED_BEFORE = `
  (select d.error->>'code' = 'task_cancelled' and d.completed_at + interval '10 seconds' < now()
   from tasks_done d where d.id = calls.task_id)`;
/** How many equal calls of one key a retry chooses from. */
const MAX_CANDIDATES = 100;

/**
 * Gives a retry the call that it most likely repeats. Calls that were hung up come first, then calls that no retry
 * waits for; among equals, the oldest comes first. A call with a valid lease goes only to a retry with a higher number:
 * the earlier attempt was cut off, although its connection still looks alive. All candidates are locked in the order of
 * their ids. So two retries with the same number neither deadlock nor get the same call.
 */
const JOIN: Statement = {
  name: 'calls.join',
  text: `
    with candidates as (
      select id, hung_up_at, joined_until, joined_retry from calls
      where api_key_id = $1 and fingerprint = decode($2, 'hex') and delivered_at is null
        and created_at > now() - ${JOINABLE}
        and (joined_until is null or joined_until < now() or joined_retry < $3)
        and ${CANCELLED_BEFORE} is not true
      order by id limit ${MAX_CANDIDATES} for update
    ), chosen as (
      select id from candidates
      order by hung_up_at is null, joined_retry > 0 and coalesce(joined_until > now(), false), id limit 1
    )
    update calls c set joined_until = now() + make_interval(secs => ${JOIN_LEASE_S}), joined_retry = $3
    from chosen where c.id = chosen.id
    returning c.id, c.task_id`,
};

/** Renews leases that are still held. A call that was hung up has lost its lease, and gets none back. */
const RENEW: Statement = {
  name: 'calls.renew',
  text: `
    with mine as (
      select id from calls join unnest($1::text[], $2::int[]) as w(id, joined_retry) using (id, joined_retry)
      where delivered_at is null and joined_until is not null order by id for update
    )
    update calls c set joined_until = now() + make_interval(secs => ${JOIN_LEASE_S}) from mine where c.id = mine.id`,
};

export interface JoinedCall {
  id: string;
  task_id: string | null;
}

/** Raw SQL because a retry finds, locks and takes its call in one statement. */
@Injectable()
export class JoinCall {
  constructor(private readonly sql: Sql) {}

  /**
   * @param fingerprint hex
   * @param retry the client's number of this retry, at least 1
   * @returns null when there is no call to join
   */
  async join(apiKeyId: string, fingerprint: string, retry: number): Promise<JoinedCall | null> {
    const [call] = await this.sql.run<JoinedCall>(JOIN, [apiKeyId, fingerprint, retry]);
    return call ?? null;
  }

  /** @param retries for the id of each call, the number of the attempt that waits for it */
  async renew(retries: ReadonlyMap<string, number>): Promise<void> {
    await this.sql.run(RENEW, [[...retries.keys()], [...retries.values()]]);
  }
}
