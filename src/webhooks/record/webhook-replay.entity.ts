import { Column, Entity, PrimaryColumn } from 'typeorm';

export const REPLAY_STATUSES = ['running', 'completed', 'cancelled'] as const;
export type ReplayStatus = (typeof REPLAY_STATUSES)[number];

/** An operator has events of a span of time sent again. A worker process queues them a few at a time. */
@Entity('webhook_replays')
export class WebhookReplay {
  /** `replay_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  /** Of the creation of the events. */
  @Column('timestamptz') since: Date;
  /** Exclusive. */
  @Column('timestamptz') until: Date;
  @Column('text', { nullable: true }) endpoint_id: string | null;
  @Column('text', { nullable: true }) api_key_id: string | null;
  /** Only what no endpoint has accepted. */
  @Column('boolean') only_failed: boolean;
  @Column('text') status: ReplayStatus;
  /** Deliveries that it was to send, counted at its creation. */
  @Column('integer') total: number;
  /** Deliveries that were queued so far. */
  @Column('integer') queued: number;
  /** Everything up to this id is queued. At first a bound below every id of the span. */
  @Column('text') last_event_id: string;
  /** A bound above every id of the span. */
  @Column('text') until_event_id: string;
  @Column('timestamptz') created_at: Date;
  /** The API key; null: the command line. */
  @Column('text', { nullable: true }) created_by: string | null;
  @Column('timestamptz', { nullable: true }) ended_at: Date | null;
  /** No process queues its next events before this time: that is its pace. */
  @Column('timestamptz', { nullable: true }) lease_until: Date | null;
}
