import { Injectable } from '@nestjs/common';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { JOIN_LEASE_S, type JoinedCall } from './join-call.ts';

/**
 * Gives a call the oldest equal one whose connection was cut, at most 10 minutes ago. A connection that is open holds a
 * lease, so two equal calls at the same time stay two. The call of a process that died can be joined when its lease has
 * lapsed.
 */
const JOIN_CUT: Statement = {
  name: 'calls.join_cut',
  text: `
    with chosen as (
      select id from calls
      where api_key_id = $1 and fingerprint = decode($2, 'hex') and delivered_at is null
        and created_at > now() - interval '10 minutes'
        and (joined_until is null or joined_until < now())
      order by id limit 1 for update skip locked
    )
    update calls c set joined_until = now() + make_interval(secs => ${JOIN_LEASE_S}), joined_retry = c.joined_retry + 1
    from chosen where c.id = chosen.id
    returning c.id, c.task_id, c.joined_retry as retry`,
};

/** Raw SQL because a call finds, locks and takes an earlier one in one statement. */
@Injectable()
export class JoinCutCall {
  constructor(private readonly sql: Sql) {}

  /**
   * @param fingerprint hex
   * @returns the call with the number that this attempt has got; null when no equal call was cut
   */
  async join(apiKeyId: string, fingerprint: string): Promise<(JoinedCall & { retry: number }) | null> {
    const [call] = await this.sql.run<JoinedCall & { retry: number }>(JOIN_CUT, [apiKeyId, fingerprint]);
    return call ?? null;
  }
}
