import { Column, Entity, PrimaryColumn } from 'typeorm';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { AnyEventType } from './event-type.ts';

export const TRIGGERS = ['scheduled', 'manual', 'test'] as const;
export type DeliveryTrigger = (typeof TRIGGERS)[number];
export const TriggerChoice = defineChoice('WebhookDeliveryTrigger', TRIGGERS, 'Why an attempt was made.');

export const DELIVERY_ERRORS = [
  'blocked_address',
  'dns_failure',
  'connect_failed',
  'tls_error',
  'timeout',
  'http_status',
] as const;
export type DeliveryError = (typeof DELIVERY_ERRORS)[number];
export const DeliveryErrorChoice = defineChoice('WebhookDeliveryError', DELIVERY_ERRORS, 'Why an attempt failed.');

/**
 * One attempt to deliver an event to an endpoint, written after the attempt has ended. `id` is not the key: a worker that
 * was taken for dead may write the same attempt as its successor, and only one of the rows is kept.
 */
@Entity('webhook_deliveries')
export class WebhookDelivery {
  @Column('text') id: string;
  @PrimaryColumn('text') event_id: string;
  @PrimaryColumn('text') endpoint_id: string;
  @Column('text') event_type: AnyEventType;
  /** The URL that was called. null in rows of an earlier release, and if the process died during the attempt. */
  @Column('text', { nullable: true }) url: string | null;
  /** The sent headers, without the signature. null when `url` is null, and when the request could not be signed. */
  @Column('jsonb', { nullable: true }) request_headers: Record<string, string> | null;
  /** 1 for the first attempt of this event at this endpoint. */
  @PrimaryColumn('integer') attempt: number;
  @Column('text') trigger: DeliveryTrigger;
  @Column('timestamptz') attempted_at: Date;
  /** null only in rows of an earlier release, which wrote the rows before the attempts. */
  @Column('integer', { nullable: true }) duration_ms: number | null;
  /** null if no response arrived. */
  @Column('integer', { nullable: true }) status_code: number | null;
  @Column('text', { nullable: true }) error: DeliveryError | null;
  /** The first 4 kB of the response; null if its body did not arrive or must not be stored. */
  @Column('text', { nullable: true }) response_snippet: string | null;
  /**
   * When the next attempt was to start. null if none was to follow, or if the endpoint was disabled before that time.
   */
  @Column('timestamptz', { nullable: true }) next_attempt_at: Date | null;
}
