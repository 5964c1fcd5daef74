import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Sql } from '../../platform/database/sql.ts';
import { holdRestored } from '../sql/hold-restored.ts';

/**
 * After a restore, holds the deliveries that were pending in the backup, because the events may have been delivered
 * since the backup was taken. They are sent only on demand. This hook runs before the workers, which start once every
 * module is initialised.
 */
@Injectable()
export class RestoredWebhooks implements OnModuleInit {
  private readonly logger = new Logger('webhooks');

  constructor(
    private readonly config: Config,
    private readonly sql: Sql,
  ) {}

  async onModuleInit(): Promise<void> {
    const { restoredFrom } = this.config;
    if (restoredFrom === null) return;
    const deliveries = await this.sql.transaction((tx) => holdRestored(tx, restoredFrom));
    if (deliveries === null) return;
    this.logger.warn({ event: 'webhook.deliveries_held', deliveries, restored_from: restoredFrom.toISOString() });
  }
}
