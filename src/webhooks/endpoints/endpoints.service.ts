import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, LessThan } from 'typeorm';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config.ts';
import { checkOutboundUrl } from '../../platform/outbound/url-rules.ts';
import { Secrets } from '../../platform/secrets.ts';
import { newEndpointSecret, seal, secretHint } from './endpoint-secret.ts';
import { EVENT_TYPES, type EventType } from '../events/event-type.ts';
import { type EndpointStatus, WebhookEndpoint } from './webhook-endpoint.entity.ts';
import { isEndpointId, newEndpointId } from '../webhook-id.ts';

export const MAX_ENDPOINTS = 10;

export interface NewEndpoint {
  url: string;
  events?: EventType[] | undefined;
  description?: string | undefined;
}

export type EndpointChange = Partial<NewEndpoint> & { status?: EndpointStatus | undefined };

/** The one moment in which a secret is known. */
export interface IssuedEndpoint {
  endpoint: WebhookEndpoint;
  secret: string;
}

export interface Page {
  /** 1 to 100. */
  limit: number;
  /** The id that the page before ended with. */
  after?: string | undefined;
}

/** A key's webhook endpoints. Every call is bound to the key. */
@Injectable()
export class EndpointsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly config: Config,
    private readonly secrets: Secrets,
  ) {}

  /** @throws ApiError invalid_url, url_not_allowed, too_many_items */
  async create(apiKeyId: string, wanted: NewEndpoint): Promise<IssuedEndpoint> {
    const url = this.checked(wanted.url);
    const secret = newEndpointSecret();
    const id = newEndpointId();
    return this.dataSource.transaction(async (tx) => {
      await this.assertRoom(tx, apiKeyId);
      await tx.insert(WebhookEndpoint, {
        id,
        api_key_id: apiKeyId,
        url,
        events: wanted.events ?? [...EVENT_TYPES],
        description: wanted.description ?? '',
        status: 'enabled',
        secret: this.sealed(secret, id),
        secret_hint: secretHint(secret),
        created_at: () => 'now()',
      });
      return { endpoint: await tx.findOneByOrFail(WebhookEndpoint, { id }), secret };
    });
  }

  /** Newest first. */
  async list(apiKeyId: string, page: Page): Promise<{ endpoints: WebhookEndpoint[]; hasMore: boolean }> {
    const endpoints = await this.dataSource.manager.find(WebhookEndpoint, {
      where: { api_key_id: apiKeyId, ...(page.after !== undefined && { id: LessThan(page.after) }) },
      order: { id: 'desc' },
      take: page.limit + 1,
    });
    return { endpoints: endpoints.slice(0, page.limit), hasMore: endpoints.length > page.limit };
  }

  /** @throws ApiError webhook_endpoint_not_found: unknown, malformed and another key's alike */
  find(apiKeyId: string, id: string): Promise<WebhookEndpoint> {
    return this.findIn(this.dataSource.manager, apiKeyId, id);
  }

  /**
   * Another URL, or enabling, begins anew: the endpoint counts as healthy. What waited when it was disabled stays
   * undelivered until `recover`.
   * @throws ApiError webhook_endpoint_not_found, invalid_url, url_not_allowed
   */
  async update(apiKeyId: string, id: string, change: EndpointChange): Promise<WebhookEndpoint> {
    const url = change.url === undefined ? undefined : this.checked(change.url);
    return this.dataSource.transaction(async (tx) => {
      const found = await this.findIn(tx, apiKeyId, id, 'for_no_key_update');
      const moved = change.status !== undefined && change.status !== found.status;
      await tx.update(
        WebhookEndpoint,
        { id },
        {
          status: change.status ?? found.status,
          events: change.events ?? found.events,
          description: change.description ?? found.description,
          url: url ?? found.url,
          ...(change.status && { disabled_reason: null }),
          ...((moved || (url !== undefined && url !== found.url)) && { failing_since: null }),
        },
      );
      if (moved) await this.stopWaiting(tx, id);
      return tx.findOneByOrFail(WebhookEndpoint, { id });
    });
  }

  /** Its deliveries go with it. @throws ApiError webhook_endpoint_not_found */
  async delete(apiKeyId: string, id: string): Promise<void> {
    await this.find(apiKeyId, id);
    await this.dataSource.manager.delete(WebhookEndpoint, { id, api_key_id: apiKeyId });
  }

  /**
   * The new secret signs from the next attempt on; the old one signs too for so long. An older one is forgotten.
   * @throws ApiError webhook_endpoint_not_found
   */
  async rotateSecret(apiKeyId: string, id: string, keepOldForHours = 0): Promise<IssuedEndpoint> {
    const secret = newEndpointSecret();
    return this.dataSource.transaction(async (tx) => {
      await this.findIn(tx, apiKeyId, id, 'for_no_key_update');
      await tx.query(
        `update webhook_endpoints
         set secret = $2, secret_hint = $3, old_secret = case when $4::float8 > 0 then secret end,
             old_secret_until = now() + $4::float8 * interval '1 hour'
         where id = $1`,
        [id, this.sealed(secret, id), secretHint(secret), keepOldForHours],
      );
      return { endpoint: await tx.findOneByOrFail(WebhookEndpoint, { id }), secret };
    });
  }

  private checked(url: string): string {
    checkOutboundUrl(url, this.config, { https: true, param: 'url' });
    return url;
  }

  private sealed(secret: string, endpointId: string): Buffer {
    return seal(secret, this.secrets.derive('webhook-secrets'), endpointId);
  }

  /** Holds creations of one key in line until the commit, so that two cannot both be the tenth. */
  private async assertRoom(tx: EntityManager, apiKeyId: string): Promise<void> {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('webhook_endpoints ' || $1, 0))`, [apiKeyId]);
    if ((await tx.countBy(WebhookEndpoint, { api_key_id: apiKeyId })) < MAX_ENDPOINTS) return;
    throw new ApiError('too_many_items', { message: `An API key has at most ${MAX_ENDPOINTS} webhook endpoints.` });
  }

  private async findIn(
    tx: EntityManager,
    apiKeyId: string,
    id: string,
    lock?: 'for_no_key_update',
  ): Promise<WebhookEndpoint> {
    const found = isEndpointId(id)
      ? await tx.findOne(WebhookEndpoint, {
          where: { id, api_key_id: apiKeyId },
          ...(lock && { lock: { mode: lock } }),
        })
      : null;
    if (!found) throw new ApiError('webhook_endpoint_not_found', { param: 'id' });
    return found;
  }

  /** At both turns, so that a switch off and on does not let loose what had been waiting. */
  private async stopWaiting(tx: EntityManager, id: string): Promise<void> {
    await tx.query(
      `update webhook_dispatches set due_at = null where endpoint_id = $1 and due_at is not null and trigger <> 'test'`,
      [id],
    );
    await tx.query(
      'update webhook_deliveries set next_attempt_at = null where endpoint_id = $1 and next_attempt_at > now()',
      [id],
    );
  }
}
