import { WebhookBody } from '../../platform/openapi/webhooks.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { eventOf } from '../../webhooks/endpoints/event-bodies.view.ts';
import { BatchView } from '../record/batch.view.ts';

@WebhookBody('batch.completed', 'All items of a batch are final')
export class BatchCompletedEvent extends eventOf('batch.completed') {
  @ApiField.object(() => BatchView, 'the batch') data: BatchView;
}
