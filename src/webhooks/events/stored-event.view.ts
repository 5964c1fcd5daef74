import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { toDeliveryView, WebhookDeliveryView } from '../deliveries/delivery.view.ts';
import type { ListedDelivery } from '../sql/list-deliveries.ts';
import { type AnyEventType, AnyEventTypeChoice } from '../record/event-type.ts';
import type { WebhookEvent } from '../record/webhook-event.entity.ts';

@ObjectType('StoredWebhookEvent', { description: 'An event as every attempt sends it, and the attempts.' })
export class StoredEventView {
  @ApiField.string('identifier', { example: 'evt_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('event') object: 'event';
  @ApiField.oneOf(AnyEventTypeChoice, 'type of the event') type: AnyEventType;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.string('the task that the event is about; null for one about no task', { nullable: true })
  task_id: string | null;
  @ApiField.string('the body, byte for byte') body: string;
  @ApiField.list(() => WebhookDeliveryView, 'the attempts to send it, newest first, at most 100')
  deliveries: WebhookDeliveryView[];
}

export const toStoredEventView = (event: WebhookEvent, deliveries: ListedDelivery[]): StoredEventView => ({
  id: event.id,
  object: 'event',
  type: event.type,
  created_at: unixSeconds(event.created_at),
  task_id: event.task_id,
  body: event.body,
  deliveries: deliveries.map(toDeliveryView),
});
