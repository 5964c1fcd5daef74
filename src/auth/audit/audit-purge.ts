import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config.ts';
import { Interval } from '../../platform/interval.ts';
import { AuditLog } from './audit-log.ts';

const PURGE_EVERY_S = 3_600;
const FIRST_PURGE_AFTER_S = 60;

/** Deletes audit events when their retention ends. Runs in every worker process. */
@Injectable()
export class AuditPurge implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('audit');
  private readonly purges = new Interval(() => this.purge());

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
    try {
      const purged = await this.audit.purge();
      if (purged > 0) this.logger.log({ event: 'audit.purged', audit_events: purged });
    } catch (error) {
      this.logger.warn({ event: 'audit.purge_failed', err: error });
    }
    return PURGE_EVERY_S;
  }
}
