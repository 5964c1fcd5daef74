import { Column, Entity, PrimaryColumn } from 'typeorm';

export const REPLAY_STATUSES = ['running', 'completed', 'cancelled'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

/**
 * A replay: the service sends the events of a span of time again, because an operator has asked for it. Worker
 * processes queue the events step by step.
 */
@Entity('webhook_replays')
export class WebhookReplay {
  /** `replay_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  /** The beginning of the span in which the events were created. */
  @Column('timestamptz') since: Date;
  /** The end of the span, exclusive. */
  @Column('timestamptz') until: Date;
  @Column('text', { nullable: true }) endpoint_id: string | null;
  @Column('text', { nullable: true }) api_key_id: string | null;
  /** Whether to send only what the endpoint has not accepted. */
  @Column('boolean') only_failed: boolean;
  @Column('text') status: ReplayStatus;
  /** The number of deliveries to send, counted at the creation of the replay. */
  @Column('integer') total: number;
  @Column('integer') queued: number;
  /** Up to this id, every event of the span is queued or was not wanted. At first it is below every id of the span. */
  @Column('text') last_event_id: string;
  /** An id above every id of the span. */
  @Column('text') until_event_id: string;
  @Column('timestamptz') created_at: Date;
  /** The API key of the operator; null if the command line made the replay. */
  @Column('text', { nullable: true }) created_by: string | null;
  @Column('timestamptz', { nullable: true }) ended_at: Date | null;
  /** Sets the pace: no process queues the next events of the replay before this time. */
  @Column('timestamptz', { nullable: true }) lease_until: Date | null;
}
