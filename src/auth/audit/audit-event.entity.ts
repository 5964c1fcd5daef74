import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { ActorType } from './actor.ts';

export const AUDIT_ACTIONS = [
  'api_key.created',
  'api_key.updated',
  'api_key.rotated',
  'api_key.revoked',
  'api_key.erased',
  'process.drain_requested',
  'process.drained',
  'process.resumed',
  'pause.created',
  'pause.ended',
  'tasks.cancelled',
  'tasks.released',
  'tasks.failed',
  'circuit.reset',
  'webhook_replay.created',
  'webhook_replay.cancelled',
  'log_levels.set',
  'task.kept',
  'task.unkept',
  'share.created',
  'share.deleted',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_TARGETS = [
  'api_key',
  'process',
  'pause',
  'task',
  'tasks',
  'provider_place',
  'webhook_replay',
  'log_levels',
  'share',
] as const;
export type AuditTarget = (typeof AUDIT_TARGETS)[number];

/** One act: who did what to which target. Written in the transaction of the act. Only an erasure changes it later. */
@Entity('audit_events')
export class AuditEvent {
  /** `aud_` and 26 characters, time-ordered. */
  @PrimaryColumn('text') id: string;
  @Column('timestamptz') created_at: Date;
  @Column('text') action: AuditAction;
  @Column('text') actor_type: ActorType;
  /** The acting API key. null: the command line or the service. */
  @Column('text', { nullable: true }) actor_id: string | null;
  @Column('text') target_type: AuditTarget;
  @Column('text') target_id: string;
  @Column('text', { nullable: true }) ip: string | null;
  @Column('text', { nullable: true }) request_id: string | null;
  /** The signed-in browser that sent the request. null: a program with the key sent it, or there was no request. */
  @Column('text', { nullable: true }) session_id: string | null;
  /** The User-Agent header of the signed-in browser. null: no browser sent the request. */
  @Column('text', { nullable: true }) user_agent: string | null;
  /** The state of the target before the act. null: it did not exist, or the act does not record it. */
  @Column('jsonb', { nullable: true }) before: Record<string, unknown> | null;
  @Column('jsonb', { nullable: true }) after: Record<string, unknown> | null;
}
