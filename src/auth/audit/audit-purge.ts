import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { purgeInterval } from '../../platform/run/purge-interval.ts';
import { AuditLog } from './audit-log.ts';

const PURGE_EVERY_S = 3_600;
const FIRST_PURGE_AFTER_S = 60;

/** Deletes audit events when their retention ends. Runs in every worker process. */
@Injectable()
export class AuditPurge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('audit');
  private readonly purges = purgeInterval({
    logger: this.logger,
    failure: 'audit.purge_failed',
    fullRound: Infinity,
    pauseS: PURGE_EVERY_S,
    purge: () => this.purge(),
  });

  constructor(
    private readonly config: Config,
    private readonly audit: AuditLog,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.purges.start(FIRST_PURGE_AFTER_S);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.purges.stop();
  }

  private async purge(): Promise<number> {
    const purged = await this.audit.purge();
    if (purged > 0) this.logger.log({ event: 'audit.purged', audit_events: purged });
    return purged;
  }
}
