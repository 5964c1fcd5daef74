import { InputType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import { type EventType, EventTypeChoice } from './events/event-type.ts';
import { type EndpointStatus, EndpointStatusChoice } from './endpoints/webhook-endpoint.entity.ts';

const MAX_DESCRIPTION_LENGTH = 500;
const MAX_KEEP_HOURS = 168; // a week
const MAX_UNIX_S = 253_402_300_799; // the year 9999
const MAX_PAGE = 100;

@InputType('CreateWebhookEndpointInput', { description: 'A webhook endpoint to be.' })
export class CreateWebhookEndpointInput {
  @ApiField.url('where to send events: https, a public address', { max: 2048 })
  url: string;

  @Events('what to be told; everything when left out')
  events?: EventType[];

  @Description()
  description?: string;
}

@InputType('UpdateWebhookEndpointInput', { description: 'A change of a webhook endpoint: only what is given changes.' })
export class UpdateWebhookEndpointInput {
  @ApiField.url('where to send events: https, a public address', { optional: true, max: 2048 })
  url?: string;

  @Events('what to be told')
  events?: EventType[];

  @Description()
  description?: string;

  @ApiField.oneOf(EndpointStatusChoice, '"enabled" enables again what was disabled', { optional: true })
  status?: EndpointStatus;
}

export class RotateWebhookSecretInput {
  @ApiField.number('how long the old secret signs too; not at all when left out', {
    optional: true,
    min: 0,
    max: MAX_KEEP_HOURS,
  })
  keep_old_secret_for_hours?: number;
}

export class RecoverWebhookEndpointInput {
  @ApiField.integer('unix seconds: failed events of that time and later are sent again', { min: 0, max: MAX_UNIX_S })
  since: number;
}

export class ListWebhookEndpointsQuery {
  @ApiField.integer('endpoints per page, 100 when left out', { optional: true, min: 1, max: MAX_PAGE, fromQuery: true })
  limit?: number;

  @ApiField.string('`last_id` of the page before', {
    optional: true,
    pattern: { regex: /^we_[0-9a-z]{26}$/, message: 'after must be the id of a webhook endpoint' },
  })
  after?: string;
}

export class ListWebhookDeliveriesQuery {
  @ApiField.integer('deliveries per page, 20 when left out', { optional: true, min: 1, max: MAX_PAGE, fromQuery: true })
  limit?: number;

  @ApiField.string('`last_id` of the page before', {
    optional: true,
    pattern: { regex: /^dlv_[0-9a-z]{26}$/, message: 'after must be the id of a webhook delivery' },
  })
  after?: string;
}

function Events(note: string): PropertyDecorator {
  return ApiField.list(EventTypeChoice, note, { optional: true, min: 1, unique: true });
}

function Description(): PropertyDecorator {
  return ApiField.string('for people', { optional: true, max: MAX_DESCRIPTION_LENGTH });
}
