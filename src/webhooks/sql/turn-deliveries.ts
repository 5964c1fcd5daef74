import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { HOUR_S } from '../../platform/time.ts';
import { deliveryLeaseS } from '../deliveries/delivery-lease.ts';
import { CLAIM, type ClaimedDispatch } from './claim-dispatches.ts';
import { FINISH, type FinishedDelivery, STOP } from './finish-deliveries.ts';

/** Two turns for one endpoint come one after the other. Not "for update": ending tasks refer to these rows meanwhile. */
const LOCK: Statement = {
  name: 'webhooks.lock_endpoints',
  text: `select from webhook_endpoints where id = any($1::text[]) order by id for no key update`,
};

/** One turn of delivering: what has ended is written down and what is due is taken, in one commit and one round trip. */
@Injectable()
export class TurnDeliveries {
  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /**
   * @param endpointIds those for which something may be due, besides those of the finished
   * @param free attempts that this process can still make; 0 takes nothing
   * @param probes how many of them at endpoints that fail
   */
  async turn(
    finished: FinishedDelivery[],
    endpointIds: string[],
    free: number,
    probes: number,
  ): Promise<ClaimedDispatch[]> {
    const ids = [...new Set([...endpointIds, ...finished.map(({ endpoint_id }) => endpoint_id)])];
    const disableAfterS = this.config.webhookDisableAfterHours * HOUR_S;
    const [disabled, claimed] = await this.sql.transaction(async (tx, commit) => {
      const locked = tx.query({ ...LOCK, values: [ids] });
      const ended = finished.length > 0 && { ...FINISH, values: [JSON.stringify(finished), disableAfterS] };
      const due = free > 0 && { ...CLAIM, values: [ids, free, probes, deliveryLeaseS(this.config)] };
      const answers = [ended && tx.query<{ id: string }>(ended), due && tx.query<ClaimedDispatch>(due)] as const;
      commit();
      const [, disabled, claimed] = await Promise.all([locked, ...answers]);
      return [disabled ? disabled.rows : [], claimed ? claimed.rows : []] as const;
    });
    if (disabled.length > 0) await this.sql.run(STOP, [disabled.map(({ id }) => id)]);
    return claimed;
  }
}
