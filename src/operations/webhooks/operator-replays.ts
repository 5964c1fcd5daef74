import { Injectable } from '@nestjs/common';
import type { Actor } from '../../auth/audit/actor.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { WebhookReplays } from '../../webhooks/replays/webhook-replays.ts';
import { type ReplayWebhooksInput, toReplayView, type WebhookReplayView } from './replay.view.ts';

/** Lets operators start and stop replays. */
@Injectable()
export class OperatorReplays {
  constructor(
    private readonly replays: WebhookReplays,
    private readonly audit: AuditLog,
  ) {}

  /** @throws ApiError invalid_value */
  async create(input: ReplayWebhooksInput, by: Actor): Promise<WebhookReplayView> {
    const { since, endpoint_id, api_key_id } = input;
    const until = input.until ?? Math.floor(Date.now() / 1000) + 1;
    const events = input.events ?? 'failed';
    const prepared = await this.replays.prepare({
      since,
      until,
      endpoint_id,
      api_key_id,
      only_failed: events === 'failed',
    });
    return this.audit.transaction(by, async (tx, record) => {
      const replay = await this.replays.start(tx, prepared, by.caller?.apiKeyId ?? null);
      const after = { since, until, endpoint_id: replay.endpoint_id, api_key_id: replay.api_key_id, events };
      await record({
        action: 'webhook_replay.created',
        target: { type: 'webhook_replay', id: replay.id },
        before: null,
        after: { ...after, total: replay.total },
      });
      return toReplayView(replay);
    });
  }

  /** A replay that has ended stays as it is. @throws ApiError webhook_replay_not_found */
  cancel(id: string, by: Actor): Promise<WebhookReplayView> {
    return this.audit.transaction(by, async (tx, record) => {
      const { replay, isCancelled } = await this.replays.cancel(tx, id);
      if (isCancelled) {
        await record({
          action: 'webhook_replay.cancelled',
          target: { type: 'webhook_replay', id },
          before: { status: 'running', queued: replay.queued },
          after: { status: 'cancelled' },
        });
      }
      return toReplayView(replay);
    });
  }

  async find(id: string): Promise<WebhookReplayView> {
    return toReplayView(await this.replays.find(id));
  }

  async list(page: { limit: number; after?: string }): Promise<{ replays: WebhookReplayView[]; hasMore: boolean }> {
    const { replays, hasMore } = await this.replays.list(page);
    return { replays: replays.map(toReplayView), hasMore };
  }
}
