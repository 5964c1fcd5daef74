import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { DeliveryTrigger } from './webhook-delivery.entity.ts';

/**
 * One event on its way to one endpoint, and its entry in the queue. It waits while `due_at` is set, and is in flight
 * while `lease_until` is set. If neither is set, it is delivered, given up or held. The statements in webhooks/sql
 * write this table.
 */
@Entity('webhook_dispatches')
export class WebhookDispatch {
  @PrimaryColumn('text') event_id: string;
  @PrimaryColumn('text') endpoint_id: string;
  @Column('timestamptz', { nullable: true }) due_at: Date | null;
  @Column('timestamptz', { nullable: true }) lease_until: Date | null;
  @Column('integer') attempt: number;
  /** The number of failed attempts of the current retry schedule. */
  @Column('integer') failures: number;
  @Column('text') trigger: DeliveryTrigger;
  /** When the endpoint last accepted the event; null if it never has. */
  @Column('timestamptz', { nullable: true }) delivered_at: Date | null;
}
