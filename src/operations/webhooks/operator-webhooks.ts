import { Injectable } from '@nestjs/common';
import { Sampled } from '../../platform/run/sampled.ts';
import { WebhookGauges } from '../../webhooks/webhook-gauges.ts';
import { RecentActivity } from '../processes/recent-activity.ts';
import { type OperatorWebhooksView, toTroubledEndpointView } from './operator-webhooks.view.ts';
import { WatchEndpoints } from './sql/watch-endpoints.ts';

const MAX_TROUBLED = 100;
/**
 * Milliseconds for which requests share a sample, because a sample counts up to 10,000 events for each of 100
 * endpoints.
 */
const SAMPLE_MS = 1_000;

/** The webhooks of all API keys. */
@Injectable()
export class OperatorWebhooks {
  private readonly samples = new Sampled(() => this.read(), SAMPLE_MS);

  constructor(
    private readonly gauges: WebhookGauges,
    private readonly endpoints: WatchEndpoints,
    private readonly activity: RecentActivity,
  ) {}

  async overview(): Promise<OperatorWebhooksView> {
    return this.samples.get();
  }

  private async read(): Promise<OperatorWebhooksView> {
    const [counts, troubled, { attempts }] = await Promise.all([
      this.gauges.counts(),
      this.endpoints.troubled(MAX_TROUBLED),
      this.activity.get(),
    ]);
    const { enabled, failing, disabled, due, waiting, under_way, oldest_due } = counts;
    return {
      object: 'operator_webhooks',
      endpoints: { enabled, failing, disabled },
      dispatches: { due, waiting, under_way },
      oldest_due_s: oldest_due,
      attempts,
      troubled: troubled.map(toTroubledEndpointView),
    };
  }
}
