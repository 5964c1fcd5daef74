import { ApiField } from '../../platform/schema/api-field.ts';
import type { AuditAction } from './audit-event.entity.ts';
import { AuditActionChoice } from './audit-event.view.ts';

const MAX_PAGE = 100;
const MAX_ID_LENGTH = 100;

export class ListAuditEventsQuery {
  @ApiField.integer('events per page, 20 when left out', { optional: true, min: 1, max: MAX_PAGE, fromQuery: true })
  limit?: number;

  @ApiField.string('`last_id` of the previous page', {
    optional: true,
    pattern: { regex: /^aud_[0-9a-z]{26}$/, message: 'after must be the id of an audit event' },
  })
  after?: string;

  @ApiField.string('only acts on the target with this id', { optional: true, max: MAX_ID_LENGTH })
  target_id?: string;

  @ApiField.oneOf(AuditActionChoice, 'only this action', { optional: true })
  action?: AuditAction;

  @ApiField.boolean('true: only acts of keeping and sharing; false: all others', {
    optional: true,
    fromQuery: true,
  })
  keeps_and_shares?: boolean;
}
