import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { JOIN_LEASE_S, type JoinedCall } from './join-call.ts';

/**
 * Gives a call an equal one, at most 10 minutes old, whose connection ended without the outcome, or else one that has
 * just failed. A connection that is open holds a lease, so equal calls at the same time stay apart. The call of a
 * process that died can be joined when its lease has lapsed.
 */
const JOIN_EQUAL: Statement = {
  name: 'calls.join_equal',
  text: `
    with chosen as (
      select id from calls
      where api_key_id = $1 and fingerprint = decode($2, 'hex') and created_at > now() - interval '10 minutes'
        and (failed_until > now()
             or delivered_at is null and (joined_until < now() or joined_until is null and hung_up_at is not null))
      order by delivered_at is not null, id limit 1 for update
    )
    update calls c set joined_until = now() + make_interval(secs => ${JOIN_LEASE_S}), joined_retry = c.joined_retry + 1
    from chosen where c.id = chosen.id
    returning c.id, c.task_id, c.joined_retry as retry`,
};

/** Raw SQL because a call finds, locks and takes an earlier one in one statement. */
@Injectable()
export class JoinEqualCall {
  constructor(private readonly sql: Sql) {}

  /**
   * @param fingerprint hex
   * @returns the call with the number that this attempt has got; null when there is none to join
   */
  async join(apiKeyId: string, fingerprint: string): Promise<(JoinedCall & { retry: number }) | null> {
    const [call] = await this.sql.run<JoinedCall & { retry: number }>(JOIN_EQUAL, [apiKeyId, fingerprint]);
    return call ?? null;
  }
}
