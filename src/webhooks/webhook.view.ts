import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import type { ResentEvent } from './sql/send-again.ts';
import { type AnyEventType, AnyEventTypeChoice, type EventType, EventTypeChoice } from './events/event-type.ts';
import {
  type DeliveryError,
  DeliveryErrorChoice,
  type DeliveryTrigger,
  TriggerChoice,
  type WebhookDelivery,
} from './deliveries/webhook-delivery.entity.ts';
import {
  type DisabledReason,
  DisabledReasonChoice,
  type EndpointStatus,
  EndpointStatusChoice,
  type WebhookEndpoint,
} from './endpoints/webhook-endpoint.entity.ts';

@ObjectType('WebhookEndpoint', {
  description: 'Who is told when tasks end. The secret is shown once only, by the call that made it.',
})
export class WebhookEndpointView {
  @ApiField.string('identifier', { example: 'we_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.string('always "webhook_endpoint"') object: 'webhook_endpoint';
  @ApiField.string('where events are sent') url: string;
  @ApiField.list(EventTypeChoice, 'what it is told') events: EventType[];
  @ApiField.string('for people') description: string;
  @ApiField.oneOf(EndpointStatusChoice, 'whether events are sent') status: EndpointStatus;
  @ApiField.oneOf(DisabledReasonChoice, 'why the service disabled it; null: it did not', { nullable: true })
  disabled_reason: DisabledReason | null;
  @ApiField.string('enough of the current secret to recognise it', { example: '…x9Qd' }) secret_hint: string;
  @ApiField.integer('unix seconds') created_at: number;
  @ApiField.string('the signing secret; only in the answer to its creation or rotation', { optional: true })
  secret?: string;
}

export class WebhookEndpointListView {
  @ApiField.string('always "list"') object: 'list';
  @ApiField.list(() => WebhookEndpointView, 'newest first') data: WebhookEndpointView[];
  @ApiField.boolean('whether there are older ones') has_more: boolean;
  @ApiField.string('null in an empty list', { nullable: true }) first_id: string | null;
  @ApiField.string('goes into `after` for the next page; null in an empty list', { nullable: true })
  last_id: string | null;
}

@ObjectType('WebhookDelivery', { description: 'One attempt to tell an endpoint of an event.' })
export class WebhookDeliveryView {
  @ApiField.string('identifier', { example: 'dlv_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.string('always "webhook_delivery"') object: 'webhook_delivery';
  @ApiField.string('the event, `webhook-id` to the receiver') event_id: string;
  @ApiField.oneOf(AnyEventTypeChoice, 'what it tells') event_type: AnyEventType;
  @ApiField.integer('1 at the first attempt of this event') attempt: number;
  @ApiField.oneOf(TriggerChoice, 'why it was made') trigger: DeliveryTrigger;
  @ApiField.integer('unix seconds', { nullable: true }) attempted_at: number | null;
  @ApiField.integer('milliseconds', { nullable: true }) duration_ms: number | null;
  @ApiField.integer('HTTP status of the answer; null without one', { nullable: true }) status_code: number | null;
  @ApiField.oneOf(DeliveryErrorChoice, 'null on success', { nullable: true })
  error: DeliveryError | null;
  @ApiField.integer('unix seconds; null when no further attempt follows this one', { nullable: true })
  next_attempt_at: number | null;
  @ApiField.string('at most the first 4 kB of the answer', { nullable: true }) response_snippet: string | null;
}

export class WebhookDeliveryListView {
  @ApiField.string('always "list"') object: 'list';
  @ApiField.list(() => WebhookDeliveryView, 'newest first') data: WebhookDeliveryView[];
  @ApiField.boolean('whether there are older ones') has_more: boolean;
  @ApiField.string('null in an empty list', { nullable: true }) first_id: string | null;
  @ApiField.string('goes into `after` for the next page; null in an empty list', { nullable: true })
  last_id: string | null;
}

@ObjectType('WebhookEvent', { description: 'An event that is sent again.' })
export class WebhookEventView {
  @ApiField.string('identifier', { example: 'evt_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.string('always "event"') object: 'event';
  @ApiField.oneOf(AnyEventTypeChoice, 'what it tells') type: AnyEventType;
  @ApiField.integer('unix seconds') created_at: number;
  @ApiField.integer('to how many endpoints it goes') endpoints: number;
}

@ObjectType('DeletedWebhookEndpoint', { description: 'A webhook endpoint that was deleted.' })
export class DeletedWebhookEndpointView {
  @ApiField.string('the endpoint that is no more') id: string;
}

@ObjectType('WebhookTest', { description: 'A test event that was sent to an endpoint.' })
export class WebhookTestView {
  @ApiField.string('the event that is sent to the endpoint') event_id: string;
}

@ObjectType('WebhookRecovery', { description: 'What an endpoint is sent again.' })
export class WebhookRecoveryView {
  @ApiField.integer('how many events are sent again') events: number;
}

export function toEndpointView(endpoint: WebhookEndpoint, secret?: string): WebhookEndpointView {
  const { id, url, events, description, status, disabled_reason, secret_hint, created_at } = endpoint;
  return {
    id,
    object: 'webhook_endpoint',
    url,
    events,
    description,
    status,
    disabled_reason,
    secret_hint,
    created_at: unixSeconds(created_at),
    ...(secret !== undefined && { secret }),
  };
}

export const toDeliveryView = (delivery: WebhookDelivery): WebhookDeliveryView => ({
  id: delivery.id,
  object: 'webhook_delivery',
  event_id: delivery.event_id,
  event_type: delivery.event_type,
  attempt: delivery.attempt,
  trigger: delivery.trigger,
  attempted_at: unixSeconds(delivery.attempted_at),
  duration_ms: delivery.duration_ms,
  status_code: delivery.status_code,
  error: delivery.error,
  next_attempt_at: delivery.next_attempt_at && unixSeconds(delivery.next_attempt_at),
  response_snippet: delivery.response_snippet,
});

export const toEventView = ({ id, type, created_at, endpoint_ids }: ResentEvent): WebhookEventView => ({
  id,
  object: 'event',
  type,
  created_at: unixSeconds(created_at),
  endpoints: endpoint_ids.length,
});

/** A page of anything that has an id. */
export const toListView = <View extends { id: string }>(data: View[], has_more: boolean) => ({
  object: 'list' as const,
  data,
  has_more,
  first_id: data.at(0)?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
});

const unixSeconds = (date: Date) => Math.floor(date.getTime() / 1000);
