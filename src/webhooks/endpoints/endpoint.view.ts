import { ObjectType } from '@nestjs/graphql';
import { NodeView } from '../../platform/graphql/node.view.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { type EventType, EventTypeChoice } from '../record/event-type.ts';
import {
  type DisabledReason,
  DisabledReasonChoice,
  type EndpointStatus,
  EndpointStatusChoice,
  type WebhookEndpoint,
} from '../record/webhook-endpoint.entity.ts';

@ObjectType('WebhookEndpoint', {
  description: 'A URL that receives the events of your tasks. Only creation and rotation return the secret.',
  implements: () => NodeView,
})
export class WebhookEndpointView {
  @ApiField.id('identifier', { example: 'we_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('webhook_endpoint') object: 'webhook_endpoint';
  @ApiField.string('the URL that receives events') url: string;
  @ApiField.list(EventTypeChoice, 'the events it receives') events: EventType[];
  @ApiField.string('a note for people') description: string;
  @ApiField.oneOf(EndpointStatusChoice, 'whether the service sends it events') status: EndpointStatus;
  @ApiField.oneOf(DisabledReasonChoice, 'why the service disabled it; null if the service did not', { nullable: true })
  disabled_reason: DisabledReason | null;
  @ApiField.long('unix seconds of the first failure since the last success; null while it works', { nullable: true })
  failing_since: number | null;
  @ApiField.string('the last characters of the current secret, to recognise it', { example: '…x9Qd' })
  secret_hint: string;
  @ApiField.long('unix seconds until which the secret before the last rotation signs too; null: it does not', {
    nullable: true,
  })
  old_secret_until: number | null;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.string('the signing secret; only in the response to creation or rotation', { optional: true })
  secret?: string;
}

export class WebhookEndpointListView extends listOf(WebhookEndpointView, 'newest first') {}

@ObjectType('DeletedWebhookEndpoint', { description: 'A deleted webhook endpoint.' })
export class DeletedWebhookEndpointView {
  @ApiField.string('identifier of the deleted endpoint') id: string;
}

/** @param secret given only in the response to creation or rotation */
export function toEndpointView(endpoint: WebhookEndpoint, secret?: string): WebhookEndpointView {
  const { id, url, events, description, status, disabled_reason, secret_hint, created_at } = endpoint;
  const { failing_since, old_secret_until } = endpoint;
  return {
    id,
    object: 'webhook_endpoint',
    url,
    events,
    description,
    status,
    disabled_reason,
    failing_since: failing_since && unixSeconds(failing_since),
    secret_hint,
    old_secret_until:
      old_secret_until && old_secret_until.getTime() > Date.now() ? unixSeconds(old_secret_until) : null,
    created_at: unixSeconds(created_at),
    ...(secret !== undefined && { secret }),
  };
}
