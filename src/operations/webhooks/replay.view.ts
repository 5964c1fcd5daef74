import { InputType, ObjectType } from '@nestjs/graphql';
import { ApiField, OMITTABLE } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { typeIdPattern } from '../../platform/schema/type-id.ts';
import { MAX_UNIX_S, unixSeconds } from '../../platform/schema/time.ts';
import { REPLAY_STATUSES, type ReplayStatus, type WebhookReplay } from '../../webhooks/record/webhook-replay.entity.ts';

const MAX_PAGE = 100;

const StatusChoice = defineChoice('WebhookReplayStatus', REPLAY_STATUSES, 'How far a webhook replay is.');
const WhichChoice = defineChoice('WebhookReplayEvents', ['failed', 'all'], 'Which events a replay sends again.');

@InputType('ReplayWebhooksInput', { description: 'Which webhook events to send again.' })
export class ReplayWebhooksInput {
  @ApiField.long('events created from this time on, unix seconds', { min: 0, max: MAX_UNIX_S }) since: number;
  @ApiField.long('exclusive, unix seconds; now when left out', { ...OMITTABLE, min: 0, max: MAX_UNIX_S })
  until?: number | null;
  @ApiField.string('only to this endpoint', { ...OMITTABLE, max: 100 }) endpoint_id?: string | null;
  @ApiField.string('only events of this API key', { ...OMITTABLE, max: 100 }) api_key_id?: string | null;
  @ApiField.oneOf(WhichChoice, 'which events: those that the endpoint has not accepted (default), or all', OMITTABLE)
  events?: 'failed' | 'all' | null;
}

/** Query string of `GET /v1/operations/webhooks/replays`. */
export class ListReplaysQuery {
  @ApiField.integer('replays per page', { optional: true, min: 1, max: MAX_PAGE, default: 20, fromQuery: true })
  limit?: number;
  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: typeIdPattern('replay'), message: 'after must be the id of a webhook replay' },
  })
  after?: string;
}

@ObjectType('WebhookReplay', { description: 'A resend of the webhook events of a time range.' })
export class WebhookReplayView {
  @ApiField.string('identifier') id: string;
  @ApiField.constant('webhook_replay') object: 'webhook_replay';
  @ApiField.oneOf(StatusChoice, 'how far it is') status: ReplayStatus;
  @ApiField.long('events created from this time on, unix seconds') since: number;
  @ApiField.long('exclusive, unix seconds') until: number;
  @ApiField.string('only to this endpoint; null: to all', { nullable: true }) endpoint_id: string | null;
  @ApiField.string('only events of this API key; null: of all', { nullable: true }) api_key_id: string | null;
  @ApiField.oneOf(WhichChoice, 'which events') events: 'failed' | 'all';
  @ApiField.integer('deliveries to send, as counted at its start') total: number;
  @ApiField.integer('deliveries queued so far, 100 a second at most') queued: number;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.string('the API key that started it; null: the command line', { nullable: true }) created_by: string | null;
  @ApiField.long('unix seconds; null while it runs', { nullable: true }) ended_at: number | null;
}

export const toReplayView = (replay: WebhookReplay): WebhookReplayView => ({
  id: replay.id,
  object: 'webhook_replay',
  status: replay.status,
  since: unixSeconds(replay.since),
  until: unixSeconds(replay.until),
  endpoint_id: replay.endpoint_id,
  api_key_id: replay.api_key_id,
  events: replay.only_failed ? 'failed' : 'all',
  total: replay.total,
  queued: replay.queued,
  created_at: unixSeconds(replay.created_at),
  created_by: replay.created_by,
  ended_at: replay.ended_at && unixSeconds(replay.ended_at),
});
