import { ObjectType } from '@nestjs/graphql';
import { connectionOf } from '../../platform/graphql/connection.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { ACTOR_TYPES, type ActorType } from './actor.ts';
import {
  type AuditAction,
  AUDIT_ACTIONS,
  type AuditEvent,
  AUDIT_TARGETS,
  type AuditTarget,
} from './audit-event.entity.ts';

export const AuditActionChoice = defineChoice('AuditAction', AUDIT_ACTIONS, 'What an audit event records.');
const TargetChoice = defineChoice('AuditTargetType', AUDIT_TARGETS, 'What an audited act changed.');
export const ActorTypeChoice = defineChoice('AuditActorType', ACTOR_TYPES, 'Who performed an audited act.');

@ObjectType('AuditEvent', { description: 'One act of an administrator or operator: who did what to whom.' })
export class AuditEventView {
  @ApiField.string('identifier', { example: 'aud_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('audit_event') object: 'audit_event';
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.oneOf(AuditActionChoice, 'what was done') action: AuditAction;
  @ApiField.oneOf(ActorTypeChoice, 'who did it: an API key, the command line, or the service at its start')
  actor_type: ActorType;
  @ApiField.string('the acting API key; null for the others', { nullable: true }) actor_id: string | null;
  @ApiField.oneOf(TargetChoice, 'what was changed') target_type: AuditTarget;
  @ApiField.string('its id; `filter` for an act on several tasks; for a place of a provider, its number')
  target_id: string;
  @ApiField.string('address of the client; null without a request', { nullable: true }) ip: string | null;
  @ApiField.string('the `x-request-id` of the request; null without one', { nullable: true })
  request_id: string | null;
  @ApiField.string('the session of the browser that asked; null when no browser was signed in', { nullable: true })
  session_id: string | null;
  @ApiField.string('the name that this browser gave itself (`User-Agent`); null without one', { nullable: true })
  user_agent: string | null;
  @ApiField.json('the target before the act; null if it is new', { nullable: true })
  before: Record<string, unknown> | null;
  @ApiField.json('what the act set', { nullable: true }) after: Record<string, unknown> | null;
}

export class AuditEventListView extends listOf(AuditEventView, 'newest first') {}
export const AuditEventConnection = connectionOf(AuditEventView, 'AuditEvent');

export const toAuditEventView = (event: AuditEvent): AuditEventView => ({
  id: event.id,
  object: 'audit_event',
  created_at: unixSeconds(event.created_at),
  action: event.action,
  actor_type: event.actor_type,
  actor_id: event.actor_id,
  target_type: event.target_type,
  target_id: event.target_id,
  ip: event.ip,
  request_id: event.request_id,
  session_id: event.session_id,
  user_agent: event.user_agent,
  before: event.before,
  after: event.after,
});
