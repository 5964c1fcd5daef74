import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { AnyEventType } from './event-type.ts';

/** An event with the body that every attempt sends. Written by sql/insert-events.ts and sql/resend-events.ts. */
@Entity('webhook_events')
export class WebhookEvent {
  @PrimaryColumn('text') id: string;
  @Column('text') api_key_id: string;
  /** null for an event that is not about a task. */
  @Column('text', { nullable: true }) task_id: string | null;
  @Column('text') type: AnyEventType;
  /** Text, not JSON, so that every attempt sends the same bytes. */
  @Column('text') body: string;
  /** The `trace_parent` of the task; null if the event is about no traced task. */
  @Column('text', { nullable: true }) trace_parent: string | null;
  @Column('timestamptz') created_at: Date;
  /** After this time the event is shown to nobody. It is then deleted with its dispatches and deliveries. */
  @Column('timestamptz') expires_at: Date;
}
