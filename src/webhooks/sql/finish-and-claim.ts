import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import { HOUR_S } from '../../platform/schema/time.ts';
import { deliveryLeaseS } from '../record/delivery-lease.ts';
import { CLAIM, type ClaimedDispatch } from './claim-dispatches.ts';
import { FINISH, type FinishedDelivery } from './finish-deliveries.ts';
import { stopWaiting } from './stop-waiting.ts';

/**
 * Serialises batches that concern the same endpoint. Transactions that end tasks skip an endpoint that is locked
 * `for update`, because it is being deleted. They do not skip it because of this lock.
 */
const LOCK: Statement = {
  name: 'webhooks.lock_endpoints',
  text: `select from webhook_endpoints where id = any($1::text[]) order by id for no key update`,
};

/** How many attempts this process can still start. */
export interface Capacity {
  /** The number of attempts in all; 0 claims nothing. */
  free: number;
  /** The number of attempts at failing endpoints. */
  probes: number;
  /**
   * An endpoint with an attempt in flight gets a further one only if fewer than this many attempts at healthy endpoints
   * are claimed before it.
   */
  further: number;
  /**
   * A failing endpoint gets an attempt only if fewer than this many attempts are claimed before it. Healthy endpoints
   * are claimed first.
   */
  withProbes: number;
}

/** Records the finished attempts of a batch and claims what is due, in one commit and one round trip. */
@Injectable()
export class FinishAndClaim {
  private readonly logger = new Logger('webhooks');

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
  ) {}

  /** @param endpointIds endpoints that may have something due, besides those of the finished attempts */
  async run(finished: FinishedDelivery[], endpointIds: string[], capacity: Capacity): Promise<ClaimedDispatch[]> {
    const { free, probes, further, withProbes } = capacity;
    const ids = [...new Set([...endpointIds, ...finished.map(({ endpoint_id }) => endpoint_id)])];
    const disableAfterS = this.config.webhookDisableAfterHours * HOUR_S;
    const [disabled, claimed] = await this.sql.transaction(async (tx, commit) => {
      const locked = tx.query({ ...LOCK, values: [ids] });
      const finish = finished.length > 0 && { ...FINISH, values: [JSON.stringify(finished), disableAfterS] };
      const claim = free > 0 && {
        ...CLAIM,
        values: [ids, free, probes, further, withProbes, deliveryLeaseS(this.config)],
      };
      const results = [finish && tx.query<{ id: string }>(finish), claim && tx.query<ClaimedDispatch>(claim)] as const;
      commit();
      const [, disabled, claimed] = await Promise.all([locked, ...results]);
      return [disabled ? disabled.rows : [], claimed ? claimed.rows : []] as const;
    });
    if (disabled.length > 0) void this.stop(disabled.map(({ id }) => id));
    return claimed;
  }

  /** Nobody waits for this, because a million events take minutes. They are not sent, as the endpoint is disabled. */
  private async stop(endpointIds: string[]): Promise<void> {
    try {
      await stopWaiting(this.sql, endpointIds);
    } catch (err) {
      this.logger.warn({ event: 'webhook.stop_failed', endpoint_ids: endpointIds, err });
    }
  }
}
