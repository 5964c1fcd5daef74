import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, LessThan, Repository } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { Sql } from '../../platform/database/sql.ts';
import { checkOutboundUrl } from '../../platform/outbound/url-rules.ts';
import { Secrets } from '../../platform/config/secrets.ts';
import { type EventType, TASK_EVENT_TYPES } from '../record/event-type.ts';
import { deleteHistory } from '../sql/delete-history.ts';
import { lockEndpointsOfKey } from '../sql/lock-endpoints-of-key.ts';
import { stopWaiting } from '../sql/stop-waiting.ts';
import { isEndpointId, newEndpointId } from '../record/webhook-id.ts';
import { newEndpointSecret, seal, secretHint } from './endpoint-secret.ts';
import { type EndpointStatus, WebhookEndpoint } from '../record/webhook-endpoint.entity.ts';

export const MAX_ENDPOINTS = 10;

export interface NewEndpoint {
  url: string;
  events?: EventType[] | undefined;
  description?: string | undefined;
}

export type EndpointChange = Partial<NewEndpoint> & { status?: EndpointStatus | undefined };

/** An endpoint right after its creation or the rotation of its secret. Only then is the secret shown. */
export interface IssuedEndpoint {
  endpoint: WebhookEndpoint;
  secret: string;
}

export interface Page {
  /** 1 to 100. */
  limit: number;
  /** The last id of the previous page. */
  after?: string | undefined;
}

/** Manages the webhook endpoints of a key. Every call finds only endpoints of the given key. */
@Injectable()
export class EndpointsService {
  constructor(
    @InjectRepository(WebhookEndpoint) private readonly endpoints: Repository<WebhookEndpoint>,
    private readonly config: Config,
    private readonly secrets: Secrets,
    private readonly sql: Sql,
  ) {}

  /** @throws ApiError invalid_url, url_not_allowed, too_many_items */
  async create(apiKeyId: string, input: NewEndpoint): Promise<IssuedEndpoint> {
    const url = this.checkedUrl(input.url);
    const secret = newEndpointSecret();
    const id = newEndpointId();
    return this.endpoints.manager.transaction(async (tx) => {
      await this.assertBelowLimit(tx, apiKeyId);
      await tx.insert(WebhookEndpoint, {
        id,
        api_key_id: apiKeyId,
        url,
        events: input.events ?? [...TASK_EVENT_TYPES],
        description: input.description ?? '',
        status: 'enabled',
        secret: this.sealed(secret, id),
        secret_key_id: this.secrets.keyId,
        secret_hint: secretHint(secret),
        created_at: () => 'now()',
      });
      return { endpoint: await tx.findOneByOrFail(WebhookEndpoint, { id }), secret };
    });
  }

  /** Newest first. */
  async list(apiKeyId: string, page: Page): Promise<{ endpoints: WebhookEndpoint[]; hasMore: boolean }> {
    const endpoints = await this.endpoints.find({
      where: { api_key_id: apiKeyId, ...(page.after !== undefined && { id: LessThan(page.after) }) },
      order: { id: 'desc' },
      take: page.limit + 1,
    });
    return { endpoints: endpoints.slice(0, page.limit), hasMore: endpoints.length > page.limit };
  }

  /**
   * @throws ApiError webhook_endpoint_not_found when the id is unknown, malformed, or that of another key's endpoint
   */
  find(apiKeyId: string, id: string): Promise<WebhookEndpoint> {
    return this.findIn(this.endpoints, apiKeyId, id);
  }

  /**
   * Changes an endpoint. A new URL or status clears `failing_since`, so the endpoint counts as healthy. When an
   * endpoint is disabled, its waiting events lose their due time: they are sent only on demand.
   * @throws ApiError webhook_endpoint_not_found, invalid_url, url_not_allowed
   */
  async update(apiKeyId: string, id: string, change: EndpointChange): Promise<WebhookEndpoint> {
    const url = change.url === undefined ? undefined : this.checkedUrl(change.url);
    const { status } = await this.find(apiKeyId, id);
    // Removes due times before the endpoint is enabled and after it is disabled, so that it never gets events that have
    // waited while it was disabled. Runs outside of the transaction, because it takes seconds for 100,000 events.
    // Inside, the deliveries of all keys would wait that long for the locked endpoint.
    if (change.status === 'enabled' && status === 'disabled') await stopWaiting(this.sql, [id]);
    const changed = await this.endpoints.manager.transaction(async (tx) => {
      const found = await this.findIn(tx.getRepository(WebhookEndpoint), apiKeyId, id, 'for_no_key_update');
      const statusChanges = change.status !== undefined && change.status !== found.status;
      const urlChanges = url !== undefined && url !== found.url;
      await tx.update(
        WebhookEndpoint,
        { id },
        {
          status: change.status ?? found.status,
          events: change.events ?? found.events,
          description: change.description ?? found.description,
          url: url ?? found.url,
          ...(change.status && { disabled_reason: null }),
          ...((statusChanges || urlChanges) && { failing_since: null }),
        },
      );
      return tx.findOneByOrFail(WebhookEndpoint, { id });
    });
    if (change.status === 'disabled') await stopWaiting(this.sql, [id]);
    return changed;
  }

  /**
   * Disables an endpoint, deletes its deliveries, then deletes the endpoint, and the deliveries of events that came
   * meanwhile. If this process stops before the endpoint is deleted, the endpoint stays disabled and can be deleted
   * again.
   * @throws ApiError webhook_endpoint_not_found
   */
  async delete(apiKeyId: string, id: string): Promise<void> {
    await this.find(apiKeyId, id);
    await this.endpoints.update({ id }, { status: 'disabled' });
    await deleteHistory(this.endpoints.manager, id);
    await this.endpoints.delete({ id });
    await deleteHistory(this.endpoints.manager, id);
  }

  /**
   * Makes a new secret, which signs from the next attempt on. The old secret also signs for `keepOldForHours` hours;
   * with 0 it is deleted. A secret from an earlier rotation is always deleted.
   * @throws ApiError webhook_endpoint_not_found
   */
  async rotateSecret(apiKeyId: string, id: string, keepOldForHours = 0): Promise<IssuedEndpoint> {
    const secret = newEndpointSecret();
    return this.endpoints.manager.transaction(async (tx) => {
      await this.findIn(tx.getRepository(WebhookEndpoint), apiKeyId, id, 'for_no_key_update');
      await tx
        .createQueryBuilder()
        .update(WebhookEndpoint)
        .set({
          secret: this.sealed(secret, id),
          secret_hint: secretHint(secret),
          old_secret: () => 'case when cast(:hours as float8) > 0 then secret end',
          old_secret_until: () => `now() + cast(:hours as float8) * interval '1 hour'`,
          secret_key_id: () => 'case when secret_key_id = :keyId or cast(:hours as float8) = 0 then :keyId end',
        })
        .where({ id })
        .setParameters({ hours: keepOldForHours, keyId: this.secrets.keyId })
        .execute();
      return { endpoint: await tx.findOneByOrFail(WebhookEndpoint, { id }), secret };
    });
  }

  private checkedUrl(url: string): string {
    checkOutboundUrl(url, this.config, { https: true, param: 'url' });
    return url;
  }

  private sealed(secret: string, endpointId: string): Buffer {
    return seal(secret, this.secrets.derive('webhook-secrets'), endpointId);
  }

  private async assertBelowLimit(tx: EntityManager, apiKeyId: string): Promise<void> {
    await lockEndpointsOfKey(tx, apiKeyId);
    if ((await tx.countBy(WebhookEndpoint, { api_key_id: apiKeyId })) < MAX_ENDPOINTS) return;
    throw new ApiError('too_many_items', { message: `An API key has at most ${MAX_ENDPOINTS} webhook endpoints.` });
  }

  private async findIn(
    endpoints: Repository<WebhookEndpoint>,
    apiKeyId: string,
    id: string,
    lock?: 'for_no_key_update',
  ): Promise<WebhookEndpoint> {
    const found = isEndpointId(id)
      ? await endpoints.findOne({
          where: { id, api_key_id: apiKeyId },
          ...(lock && { lock: { mode: lock } }),
        })
      : null;
    if (!found) throw new ApiError('webhook_endpoint_not_found', { param: 'id' });
    return found;
  }
}
