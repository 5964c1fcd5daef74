import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type EntityManager, LessThan, Repository } from 'typeorm';
import { typeidUnboxed } from 'typeid-js';
import { ApiError } from '../../errors/api-error.ts';
import { typeIdTest } from '../../platform/schema/type-id.ts';
import { HOUR_MS, idBoundAt } from '../../platform/schema/time.ts';
import { cancelReplay, ReplayEvents } from '../sql/replay-events.ts';
import { isEndpointId } from '../record/webhook-id.ts';
import { WebhookReplay } from '../record/webhook-replay.entity.ts';

/**
 * An id contains the time of the process that made it. That time and the database's time differ by no more than this.
 */
const SLACK_MS = HOUR_MS;

const isReplayId = typeIdTest('replay');
const isApiKeyId = typeIdTest('key');

/** What to send again. Times are unix seconds. */
export interface NewReplay {
  since: number;
  /** Exclusive. */
  until: number;
  endpoint_id?: string | null | undefined;
  api_key_id?: string | null | undefined;
  only_failed: boolean;
}

/** Replays send the events of a span of time again, to the endpoints that these events were meant for. */
@Injectable()
export class WebhookReplays {
  constructor(
    private readonly events: ReplayEvents,
    @InjectRepository(WebhookReplay) private readonly replays: Repository<WebhookReplay>,
  ) {}

  /** The row of a new replay, not yet stored. @throws ApiError invalid_value */
  async prepare({ since, until, endpoint_id, api_key_id, only_failed }: NewReplay): Promise<Partial<WebhookReplay>> {
    if (until <= since) throw new ApiError('invalid_value', { param: 'until', message: 'until must be after since.' });
    if (typeof endpoint_id === 'string' && !isEndpointId(endpoint_id))
      throw malformed('endpoint_id', 'a webhook endpoint');
    if (typeof api_key_id === 'string' && !isApiKeyId(api_key_id)) throw malformed('api_key_id', 'an API key');
    const bounds = {
      since: new Date(since * 1000),
      until: new Date(until * 1000),
      endpoint_id: endpoint_id ?? null,
      api_key_id: api_key_id ?? null,
      only_failed,
      last_event_id: idBoundAt(since * 1000 - SLACK_MS, 'evt'),
      until_event_id: idBoundAt(until * 1000 + SLACK_MS, 'evt'),
    };
    return { id: typeidUnboxed('replay'), ...bounds, total: await this.events.count(bounds) };
  }

  async start(tx: EntityManager, prepared: Partial<WebhookReplay>, createdBy: string | null): Promise<WebhookReplay> {
    await tx.insert(WebhookReplay, { ...prepared, created_by: createdBy });
    return tx.findOneByOrFail(WebhookReplay, { id: prepared.id! });
  }

  /**
   * Stops a replay. Events that it has queued are still delivered.
   * @throws ApiError webhook_replay_not_found
   */
  async cancel(tx: EntityManager, id: string): Promise<{ replay: WebhookReplay; isCancelled: boolean }> {
    return (isReplayId(id) ? await cancelReplay(tx, id) : null) ?? unknownReplay();
  }

  /** @throws ApiError webhook_replay_not_found */
  async find(id: string): Promise<WebhookReplay> {
    return (isReplayId(id) ? await this.replays.findOneBy({ id }) : null) ?? unknownReplay();
  }

  /** Newest first. */
  async list({
    limit,
    after,
  }: {
    limit: number;
    after?: string;
  }): Promise<{ replays: WebhookReplay[]; hasMore: boolean }> {
    const replays = await this.replays.find({
      where: after === undefined ? {} : { id: LessThan(after) },
      order: { id: 'desc' },
      take: limit + 1,
    });
    return { replays: replays.slice(0, limit), hasMore: replays.length > limit };
  }
}

function unknownReplay(): never {
  throw new ApiError('webhook_replay_not_found');
}

const malformed = (param: string, what: string): ApiError =>
  new ApiError('invalid_value', { param, message: `${param} must be the id of ${what}.` });
