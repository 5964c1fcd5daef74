import { InputType } from '@nestjs/graphql';
import { ApiField, OMITTABLE } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { typeIdPattern } from '../../platform/schema/type-id.ts';
import { MAX_UNIX_S } from '../../platform/schema/time.ts';
import { type AnyEventType, AnyEventTypeChoice } from './event-type.ts';

const TIME = { ...OMITTABLE, fromQuery: true, min: 0, max: MAX_UNIX_S };

export const OUTCOMES = ['delivered', 'failed', 'waiting'] as const;
type Outcome = (typeof OUTCOMES)[number];
const OutcomeChoice = defineChoice(
  'DeliveryOutcome',
  OUTCOMES,
  'How an attempt ended. `waiting`: it failed, and its event will be sent again.',
);

@InputType('WebhookDeliveryFilter', { description: 'Selects the attempts that match every given field.' })
export class DeliveryFilter {
  @ApiField.oneOf(OutcomeChoice, 'how the attempt ended', OMITTABLE)
  outcome?: Outcome | null;

  @ApiField.oneOf(AnyEventTypeChoice, 'type of the event', OMITTABLE)
  event_type?: AnyEventType | null;

  @ApiField.string('identifier of the event', {
    ...OMITTABLE,
    pattern: { regex: typeIdPattern('evt'), message: 'event_id must be the id of a webhook event' },
  })
  event_id?: string | null;

  @ApiField.string('identifier of the task that the event is about', {
    ...OMITTABLE,
    pattern: { regex: typeIdPattern('task'), message: 'task_id must be the id of a task' },
  })
  task_id?: string | null;

  @ApiField.long('attempted at this time or later, unix seconds', TIME)
  since?: number | null;

  @ApiField.long('attempted before this time, unix seconds', TIME)
  until?: number | null;
}
