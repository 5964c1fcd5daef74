import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { CANCELLED_BEFORE, JOIN_LEASE_S, type JoinedCall } from './join-call.ts';

/**
 * Finds an equal call of the last 10 minutes to join: one whose connection ended without the outcome, or one that has
 * just failed. An open connection holds a lease, so simultaneous equal calls do not join each other. If a process dies,
 * its calls can be joined once their leases have lapsed.
 *
 * An MCP client may give up silently and leave its connection open. A call of such a client has a message. A later call
 * with a message can join it from one second after its start until its answer begins.
 *
 * Undelivered calls come first, then those without a valid lease, then those with the lowest attempt number.
 */
const JOIN_EQUAL: Statement = {
  name: 'calls.join_equal',
  text: `
    with chosen as (
      select id, coalesce(joined_until > now(), false) as is_open from calls
      where api_key_id = $1 and fingerprint = decode($2, 'hex') and created_at > now() - interval '10 minutes'
        and (failed_until > now()
             or delivered_at is null
                and (joined_until < now()
                     or joined_until is null and hung_up_at is not null
                     or $3::text is not null and message is not null and created_at < now() - interval '1 second')
                and ${CANCELLED_BEFORE} is not true)
      order by delivered_at is not null, is_open, joined_retry, id limit 1 for update
    )
    update calls c set joined_until = now() + make_interval(secs => ${JOIN_LEASE_S}), joined_retry = c.joined_retry + 1,
                       message = $3
    from chosen where c.id = chosen.id
    returning c.id, c.task_id, c.joined_retry as retry, chosen.is_open`,
};

/** A call to join, the number of the attempt that joins it, and whether an earlier connection of the call is open. */
export type EqualCall = JoinedCall & { retry: number; is_open: boolean };

/** Raw SQL because a call finds, locks and takes an earlier one in one statement. */
@Injectable()
export class JoinEqualCall {
  constructor(private readonly sql: Sql) {}

  /**
   * @param fingerprint hex
   * @param message as in `CallRequest`
   * @returns the call and the number of this attempt; null when there is no call to join
   */
  async join(apiKeyId: string, fingerprint: string, message: string | null): Promise<EqualCall | null> {
    const [call] = await this.sql.run<EqualCall>(JOIN_EQUAL, [apiKeyId, fingerprint, message]);
    return call ?? null;
  }
}
