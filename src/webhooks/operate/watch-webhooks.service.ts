import { Injectable } from '@nestjs/common';
import { type TroubledEndpoint, WatchEndpoints } from '../sql/watch-endpoints.ts';
import type { WebhookCounts } from '../sql/webhook-facts.ts';

export type { TroubledEndpoint };

/** How webhooks of all keys are doing, for operators. */
@Injectable()
export class WatchWebhooks {
  constructor(private readonly rows: WatchEndpoints) {}

  counts(): Promise<WebhookCounts> {
    return this.rows.counts();
  }

  /** Endpoints that fail or that the service has disabled. */
  troubled(limit: number): Promise<TroubledEndpoint[]> {
    return this.rows.troubled(limit);
  }
}
