import { Column, Entity, PrimaryColumn } from 'typeorm';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { EventType } from './event-type.ts';

export const ENDPOINT_STATUSES = ['enabled', 'disabled'] as const;
export type EndpointStatus = (typeof ENDPOINT_STATUSES)[number];
export const EndpointStatusChoice = defineChoice(
  'WebhookEndpointStatus',
  ENDPOINT_STATUSES,
  'Whether the service sends events to an endpoint.',
);

/** `gone`: the endpoint answered 410. `failing`: every attempt failed for WEBHOOK_DISABLE_AFTER_HOURS. */
export const DISABLED_REASONS = ['gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];
export const DisabledReasonChoice = defineChoice(
  'WebhookDisabledReason',
  DISABLED_REASONS,
  'Why the service disabled an endpoint.',
);

/** A URL that receives the events of one API key. */
@Entity('webhook_endpoints')
export class WebhookEndpoint {
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  @Column('text') url: string;
  @Column('text', { array: true }) events: EventType[];
  @Column('text') description: string;
  @Column('text') status: EndpointStatus;
  /** null while the endpoint is enabled, or when its owner has disabled it. */
  @Column('text', { nullable: true }) disabled_reason: DisabledReason | null;
  /** The id of the SECRET_KEY that sealed both secrets; null if it is not known, or if different keys sealed them. */
  @Column('text', { nullable: true, select: false }) secret_key_id: string | null;
  /** The sealed secret, see endpoint-secret.ts. */
  @Column('bytea', { select: false }) secret: Buffer;
  @Column('text') secret_hint: string;
  /** The secret before the last rotation, sealed. It also signs until `old_secret_until`. null if there is none. */
  @Column('bytea', { nullable: true, select: false }) old_secret: Buffer | null;
  @Column('timestamptz', { nullable: true }) old_secret_until: Date | null;
  /**
   * The time of the first failure since the last success; null if there is none. While it is set, the endpoint gets one
   * attempt at a time.
   */
  @Column('timestamptz', { nullable: true }) failing_since: Date | null;
  @Column('timestamptz') created_at: Date;
}
