import { IsInt, Matches, Max, Min } from 'class-validator';
import { ApiField } from '../../platform/schema/api-field.ts';
import { Optional, QueryInt } from '../../platform/schema/optional.ts';

const MAX_UNIX_S = 253_402_300_799; // the year 9999
const MAX_PAGE = 100;

export class RecoverWebhookEndpointInput {
  @ApiField.integer('unix seconds: failed events created at that time or later are sent again', {
    min: 0,
    max: MAX_UNIX_S,
  })
  @IsInt()
  @Min(0)
  @Max(MAX_UNIX_S)
  since: number;
}

export class ListWebhookDeliveriesQuery {
  @ApiField.integer('deliveries per page, 20 when left out', { optional: true, min: 1, max: MAX_PAGE })
  @Optional()
  @QueryInt(1, MAX_PAGE)
  limit?: number;

  @ApiField.string('`last_id` of the previous page', { optional: true })
  @Optional()
  @Matches(/^dlv_[0-9a-z]{26}$/, { message: 'after must be the id of a webhook delivery' })
  after?: string;
}
