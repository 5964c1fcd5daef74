import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { type AnyEventType, AnyEventTypeChoice } from '../record/event-type.ts';
import type { ListedDelivery } from '../sql/list-deliveries.ts';
import {
  type DeliveryError,
  DeliveryErrorChoice,
  type DeliveryTrigger,
  TriggerChoice,
} from '../record/webhook-delivery.entity.ts';

@ObjectType('WebhookDelivery', { description: 'One attempt to deliver an event to an endpoint.' })
export class WebhookDeliveryView {
  @ApiField.string('identifier', { example: 'dlv_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('webhook_delivery') object: 'webhook_delivery';
  @ApiField.string('identifier of the endpoint') endpoint_id: string;
  @ApiField.string('the task that the event is about; null for one about no task', { nullable: true })
  task_id: string | null;
  @ApiField.string('identifier of the event, sent to the receiver as `webhook-id`') event_id: string;
  @ApiField.oneOf(AnyEventTypeChoice, 'type of the event') event_type: AnyEventType;
  @ApiField.string('the address as it was called; null for an attempt of an earlier release', { nullable: true })
  url: string | null;
  @ApiField.json(
    'the headers of the request, without the signature; null for an attempt of an earlier release, and for one that could not be signed',
    { nullable: true },
  )
  request_headers: Record<string, string> | null;
  @ApiField.integer('1 for the first attempt of this event') attempt: number;
  @ApiField.oneOf(TriggerChoice, 'why the attempt was made') trigger: DeliveryTrigger;
  @ApiField.long('unix seconds', { nullable: true }) attempted_at: number | null;
  @ApiField.integer('milliseconds', { nullable: true }) duration_ms: number | null;
  @ApiField.integer('HTTP status of the response; null if none arrived', { nullable: true })
  status_code: number | null;
  @ApiField.oneOf(DeliveryErrorChoice, 'null on success', { nullable: true })
  error: DeliveryError | null;
  @ApiField.long('when the next attempt was to be made, unix seconds; null: there was none', {
    nullable: true,
  })
  next_attempt_at: number | null;
  @ApiField.string(
    'the first 4 kB of the response; empty if it had no body. null: the body broke off, or OUTBOUND_ALLOW_CIDRS excepts the address',
    { nullable: true },
  )
  response_snippet: string | null;
}

export class WebhookDeliveryListView extends listOf(WebhookDeliveryView, 'newest first') {}

@ObjectType('WebhookTest', { description: 'A test event sent to one endpoint.' })
export class WebhookTestView {
  @ApiField.string('identifier of the test event') event_id: string;
}

@ObjectType('WebhookRecovery', { description: 'The result of sending failed events to an endpoint again.' })
export class WebhookRecoveryView {
  @ApiField.integer('number of events queued for another attempt') events: number;
}

export const toDeliveryView = (delivery: ListedDelivery): WebhookDeliveryView => ({
  id: delivery.id,
  object: 'webhook_delivery',
  endpoint_id: delivery.endpoint_id,
  task_id: delivery.task_id,
  event_id: delivery.event_id,
  event_type: delivery.event_type,
  url: delivery.url,
  request_headers: delivery.request_headers,
  attempt: delivery.attempt,
  trigger: delivery.trigger,
  attempted_at: unixSeconds(delivery.attempted_at),
  duration_ms: delivery.duration_ms,
  status_code: delivery.status_code,
  error: delivery.error,
  next_attempt_at: delivery.next_attempt_at && unixSeconds(delivery.next_attempt_at),
  response_snippet: delivery.response_snippet,
});
