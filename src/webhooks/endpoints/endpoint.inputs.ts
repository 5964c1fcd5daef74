import { applyDecorators } from '@nestjs/common';
import { InputType } from '@nestjs/graphql';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsIn,
  IsNumber,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import { ApiField } from '../../platform/schema/api-field.ts';
import { Optional, QueryInt } from '../../platform/schema/optional.ts';
import { EVENT_TYPES, type EventType, EventTypeChoice } from '../events/event-type.ts';
import { ENDPOINT_STATUSES, type EndpointStatus, EndpointStatusChoice } from './webhook-endpoint.entity.ts';

const MAX_DESCRIPTION_LENGTH = 500;
const MAX_KEEP_HOURS = 168; // a week
const MAX_PAGE = 100;

@InputType('CreateWebhookEndpointInput', { description: 'A webhook endpoint to create.' })
export class CreateWebhookEndpointInput {
  /** The service checks its syntax and address, under the rules of all outbound calls. */
  @ApiField.string('the URL that receives events: https, a public address', { max: 2048 })
  @IsString()
  url: string;

  @Events('the events to receive; all of them when left out')
  events?: EventType[];

  @Description()
  description?: string;
}

@InputType('UpdateWebhookEndpointInput', {
  description: 'Changes to a webhook endpoint. A field that is left out stays as it is.',
})
export class UpdateWebhookEndpointInput {
  @ApiField.string('the URL that receives events: https, a public address', { optional: true, max: 2048 })
  @Optional()
  @IsString()
  url?: string;

  @Events('the events to receive')
  events?: EventType[];

  @Description()
  description?: string;

  @ApiField.oneOf(EndpointStatusChoice, '"enabled" enables a disabled endpoint again', { optional: true })
  @Optional()
  @IsString()
  @IsIn(ENDPOINT_STATUSES)
  status?: EndpointStatus;
}

export class RotateWebhookSecretInput {
  @ApiField.number('hours during which the old secret signs as well; 0 when left out', {
    optional: true,
    min: 0,
    max: MAX_KEEP_HOURS,
  })
  @Optional()
  @IsNumber()
  @Min(0)
  @Max(MAX_KEEP_HOURS)
  keep_old_secret_for_hours?: number;
}

export class ListWebhookEndpointsQuery {
  @ApiField.integer('endpoints per page, 100 when left out', { optional: true, min: 1, max: MAX_PAGE })
  @Optional()
  @QueryInt(1, MAX_PAGE)
  limit?: number;

  @ApiField.string('`last_id` of the previous page', { optional: true })
  @Optional()
  @Matches(/^we_[0-9a-z]{26}$/, { message: 'after must be the id of a webhook endpoint' })
  after?: string;
}

function Events(note: string): PropertyDecorator {
  return applyDecorators(
    ApiField.list(EventTypeChoice, note, { optional: true, min: 1 }),
    Optional(),
    IsArray(),
    ArrayMinSize(1),
    ArrayMaxSize(EVENT_TYPES.length),
    ArrayUnique(),
    IsIn(EVENT_TYPES, { each: true }),
  );
}

function Description(): PropertyDecorator {
  return applyDecorators(
    ApiField.string('a note for people', { optional: true, max: MAX_DESCRIPTION_LENGTH }),
    Optional(),
    IsString(),
    MaxLength(MAX_DESCRIPTION_LENGTH),
  );
}
