import { ApiField } from '../../platform/schema/api-field.ts';
import { MAX_UNIX_S } from '../../platform/schema/time.ts';
import { DeliveryFilter } from '../record/delivery-filter.ts';

const MAX_PAGE = 100;

export class RecoverWebhookEndpointInput {
  @ApiField.long('unix seconds: failed events created at that time or later are sent again', {
    min: 0,
    max: MAX_UNIX_S,
  })
  since: number;
}

export class ListWebhookDeliveriesQuery extends DeliveryFilter {
  @ApiField.integer('deliveries per page, 20 when left out', { optional: true, min: 1, max: MAX_PAGE, fromQuery: true })
  limit?: number;

  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: /^dlv_[0-9a-z]{26}$/, message: 'after must be the id of a webhook delivery' },
  })
  after?: string;
}
