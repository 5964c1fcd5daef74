import { InputType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { type EventType, EventTypeChoice } from '../record/event-type.ts';
import { type EndpointStatus, EndpointStatusChoice } from '../record/webhook-endpoint.entity.ts';

const MAX_DESCRIPTION_LENGTH = 500;
const MAX_KEEP_HOURS = 168; // a week
const MAX_PAGE = 100;

@InputType('CreateWebhookEndpointInput', { description: 'A webhook endpoint to create.' })
export class CreateWebhookEndpointInput {
  @ApiField.url('the URL that receives events: https, a public address', { min: 1, max: 2048 })
  url: string;

  @Events('the events to receive; those of tasks when left out')
  events?: EventType[];

  @Description()
  description?: string;
}

@InputType('UpdateWebhookEndpointInput', {
  description: 'Changes to a webhook endpoint. A field that is left out stays as it is.',
})
export class UpdateWebhookEndpointInput {
  @ApiField.url('the URL that receives events: https, a public address', { optional: true, min: 1, max: 2048 })
  url?: string;

  @Events('the events to receive')
  events?: EventType[];

  @Description()
  description?: string;

  @ApiField.oneOf(EndpointStatusChoice, '"enabled" enables a disabled endpoint again', { optional: true })
  status?: EndpointStatus;
}

export class RotateWebhookSecretInput {
  @ApiField.number('hours during which the old secret signs as well; 0 when left out', {
    optional: true,
    min: 0,
    max: MAX_KEEP_HOURS,
  })
  keep_old_secret_for_hours?: number;
}

export class ListWebhookEndpointsQuery {
  @ApiField.integer('endpoints per page, 100 when left out', { optional: true, min: 1, max: MAX_PAGE, fromQuery: true })
  limit?: number;

  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: /^we_[0-9a-z]{26}$/, message: 'after must be the id of a webhook endpoint' },
  })
  after?: string;
}

function Events(note: string): PropertyDecorator {
  return ApiField.list(EventTypeChoice, note, { optional: true, min: 1, unique: true });
}

function Description(): PropertyDecorator {
  return ApiField.string('a note for people', { optional: true, max: MAX_DESCRIPTION_LENGTH });
}
