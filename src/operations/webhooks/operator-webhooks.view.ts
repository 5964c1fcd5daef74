import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { type DeliveryError, DeliveryErrorChoice } from '../../webhooks/record/webhook-delivery.entity.ts';
import {
  type DisabledReason,
  DisabledReasonChoice,
  type EndpointStatus,
  EndpointStatusChoice,
} from '../../webhooks/record/webhook-endpoint.entity.ts';
import { hostOf } from '../views/host-of.ts';
import type { TroubledEndpoint } from './sql/watch-endpoints.ts';

const NULLABLE = { nullable: true };

@ObjectType('EndpointCounts', { description: 'How many webhook endpoints of all keys are in each state.' })
export class EndpointCountsView {
  @ApiField.integer('enabled endpoints whose last attempt succeeded, and those without an attempt') enabled: number;
  @ApiField.integer('enabled endpoints whose last attempt failed') failing: number;
  @ApiField.integer('endpoints that their owners or the service have disabled') disabled: number;
}

@ObjectType('DispatchCounts', { description: 'Events on their way to endpoints, each counted up to 10,000.' })
export class DispatchCountsView {
  @ApiField.integer('due now') due: number;
  @ApiField.integer('due later') waiting: number;
  @ApiField.integer('being sent') under_way: number;
}

@ObjectType('WebhookAttempts', { description: 'Delivery attempts of the last hour with the same outcome.' })
export class WebhookAttemptsView {
  @ApiField.string('the outcome: delivered, failed, lost and others, as in the metric') outcome: string;
  @ApiField.string('why they failed; null unless they did', NULLABLE) error: string | null;
  @ApiField.integer('attempts') count: number;
}

@ObjectType('TroubledEndpoint', { description: 'A webhook endpoint that fails, or that the service has disabled.' })
export class TroubledEndpointView {
  @ApiField.string('identifier') id: string;
  @ApiField.string('the API key that owns it') api_key_id: string;
  @ApiField.string('host of its URL, which may hold a secret') host: string;
  @ApiField.oneOf(EndpointStatusChoice, 'whether the service sends it events') status: EndpointStatus;
  @ApiField.oneOf(DisabledReasonChoice, 'why the service disabled it', NULLABLE) disabled_reason: DisabledReason | null;
  @ApiField.long('unix seconds of the first failure since the last success', NULLABLE) failing_since: number | null;
  @ApiField.integer('events that it has not accepted, counted up to 10,000') undelivered: number;
  @ApiField.long('unix seconds at which the next attempt is due', NULLABLE) oldest_due_at: number | null;
  @ApiField.long('unix seconds', NULLABLE) last_attempted_at: number | null;
  @ApiField.integer('status of the last response; null: none arrived', NULLABLE) last_status_code: number | null;
  @ApiField.oneOf(DeliveryErrorChoice, 'why the last attempt failed', NULLABLE) last_error: DeliveryError | null;
}

@ObjectType('OperatorWebhooks', { description: 'How the webhooks of all API keys are doing.' })
export class OperatorWebhooksView {
  @ApiField.string('always "operator_webhooks"') object: 'operator_webhooks';
  @ApiField.object(() => EndpointCountsView, 'endpoints by state') endpoints: EndpointCountsView;
  @ApiField.object(() => DispatchCountsView, 'unfinished deliveries by state') dispatches: DispatchCountsView;
  @ApiField.number('seconds for which the oldest due event has waited; null: none is due', NULLABLE)
  oldest_due_s: number | null;
  @ApiField.list(() => WebhookAttemptsView, 'attempts of the last hour by outcome') attempts: WebhookAttemptsView[];
  @ApiField.list(() => TroubledEndpointView, 'endpoints that fail, the longest failing first; at most 100')
  troubled: TroubledEndpointView[];
}

const seconds = (date: Date | null): number | null => date && unixSeconds(date);

export const toTroubledEndpointView = ({ url, ...endpoint }: TroubledEndpoint): TroubledEndpointView => ({
  ...endpoint,
  host: hostOf(url) ?? '',
  failing_since: seconds(endpoint.failing_since),
  oldest_due_at: seconds(endpoint.oldest_due_at),
  last_attempted_at: seconds(endpoint.last_attempted_at),
});
