import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import type { ResentEvent } from '../sql/resend-events.ts';
import { type AnyEventType, AnyEventTypeChoice } from '../record/event-type.ts';

@ObjectType('WebhookEvent', { description: 'An event that the service sends again.' })
export class WebhookEventView {
  @ApiField.string('identifier', { example: 'evt_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('event') object: 'event';
  @ApiField.oneOf(AnyEventTypeChoice, 'type of the event') type: AnyEventType;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.integer('number of endpoints that receive it') endpoints: number;
}

export const toEventView = ({ id, type, created_at, endpoint_ids }: ResentEvent): WebhookEventView => ({
  id,
  object: 'event',
  type,
  created_at: unixSeconds(created_at),
  endpoints: endpoint_ids.length,
});
