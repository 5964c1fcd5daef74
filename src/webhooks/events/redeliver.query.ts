import { ApiField } from '../../platform/schema/api-field.ts';

export class RedeliverQuery {
  @ApiField.string('only to this endpoint, which must be enabled and subscribe to the type; to all when left out', {
    optional: true,
  })
  endpoint_id?: string;
}
