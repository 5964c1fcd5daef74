import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Interval } from '../platform/run/interval.ts';
import { JOIN_LEASE_S, JoinCall } from './sql/join-call.ts';

const RENEW_EVERY_S = JOIN_LEASE_S / 3;

/** Renews the leases (`joined_until`) of the calls whose clients wait in this process, all in one statement. */
@Injectable()
export class JoinLeases implements OnApplicationShutdown {
  private readonly logger = new Logger('calls');
  /** For the id of a call, the number of the attempt that waits for its outcome. */
  private readonly waiting = new Map<string, number>();
  private readonly renewals = new Interval(() => this.renew());
  private isRenewing = false;

  constructor(private readonly rows: JoinCall) {}

  hold(callId: string, retry: number): void {
    this.waiting.set(callId, retry);
    if (!this.isRenewing) this.renewals.start(RENEW_EVERY_S);
    this.isRenewing = true;
  }

  release(callId: string, retry: number): void {
    if (this.waiting.get(callId) === retry) this.waiting.delete(callId);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.renewals.stop();
  }

  private async renew(): Promise<number> {
    if (this.waiting.size > 0) {
      await this.rows.renew(this.waiting).catch((err: unknown) => {
        this.logger.warn({ event: 'call.renewal_failed', err });
      });
    }
    return RENEW_EVERY_S;
  }
}
