import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { Config } from '../../platform/config.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/time.ts';
import { type ApiKeyLimits, limitsInForce } from './api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';
import { type Scope, SCOPES } from '../caller.ts';

export const ScopeChoice = defineChoice('ApiKeyScope', SCOPES, 'What an API key may do.');

/** The effective limits: those of the key, and the configured defaults for the rest. */
@ObjectType('ApiKeyLimits', { description: 'The effective limits of an API key.' })
export class ApiKeyLimitsView implements Required<ApiKeyLimits> {
  @ApiField.integer('generations created per minute; 0: no limit') creates_per_minute: number;
  @ApiField.integer('other requests per minute; 0: no limit') reads_per_minute: number;
  @ApiField.integer('tasks running at once, further tasks wait; 0: no limit') max_running: number;
  @ApiField.integer('tasks queued at once, further tasks are rejected; 0: no limit') max_queued: number;
}

/** An API key as clients see it. */
@ObjectType('ApiKey', { description: 'An API key: the tenant that owns tasks, files, limits and webhooks.' })
export class ApiKeyView {
  @ApiField.string('identifier', { example: 'key_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.string('always "api_key"') object: 'api_key';
  @ApiField.string('a name for people') name: string;
  @ApiField.list(ScopeChoice, 'what the key may do') scopes: Scope[];
  @ApiField.object(() => ApiKeyLimitsView, 'the effective limits') limits: ApiKeyLimitsView;
  @ApiField.string('the first and last characters of the current secret, to recognise it', { example: 'dr_ab…WXYZ' })
  hint: string;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; null: never', { nullable: true }) expires_at: number | null;
  @ApiField.long('unix seconds, accurate to about a minute; null: not used yet', { nullable: true })
  last_used_at: number | null;
  @ApiField.string('the key itself; only in the response to creation or rotation', { optional: true }) key?: string;
}

export class ApiKeyListView extends listOf(ApiKeyView, 'newest first') {}

/** @param key only in the response to creation or rotation */
export function toApiKeyView(apiKey: ApiKey, config: Config, key?: string): ApiKeyView {
  const limits = limitsInForce(apiKey.limits, config);
  return {
    id: apiKey.id,
    object: 'api_key',
    name: apiKey.name,
    scopes: apiKey.scopes,
    limits: {
      creates_per_minute: limits.createsPerMinute,
      reads_per_minute: limits.readsPerMinute,
      max_running: limits.maxRunning,
      max_queued: limits.maxQueued,
    },
    hint: apiKey.hint,
    created_at: unixSeconds(apiKey.created_at),
    expires_at: apiKey.expires_at && unixSeconds(apiKey.expires_at),
    last_used_at: apiKey.last_used_at && unixSeconds(apiKey.last_used_at),
    ...(key !== undefined && { key }),
  };
}
