import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { AuditLog } from '../audit/audit-log.ts';
import { ApiKeysService } from './api-keys.service.ts';

/**
 * The number of seconds for which a key is swept after its revocation. Other processes may accept the key for 5 s more,
 * and a creation in flight then takes some time to commit.
 */
const SWEEP_FOR_S = 60;

/**
 * Other processes accept a revoked key for up to 5 s more. This sweep ends the tasks that the key queues in that time.
 * It runs in every worker process, so it also covers a revocation by the command line.
 */
@Injectable()
export class RevokedKeySweep implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('auth');
  private readonly sweeps = new Interval(() => this.sweep());

  constructor(
    private readonly config: Config,
    private readonly apiKeys: ApiKeysService,
    private readonly audit: AuditLog,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role !== 'api') this.sweeps.start();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.sweeps.stop();
  }

  private async sweep(): Promise<number> {
    try {
      const ids = await this.audit.revokedWithTasks(SWEEP_FOR_S);
      if (ids.length > 0) await this.apiKeys.endQueued(ids);
    } catch (error) {
      this.logger.warn({ event: 'key.sweep_failed', err: error });
    }
    return this.config.taskSweepS;
  }
}
