import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { Config } from '../../platform/config.ts';
import { limitsInForce } from './api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';
import { type Scope, SCOPES } from '../caller.ts';

export const ScopeChoice = defineChoice('ApiKeyScope', SCOPES, 'What an API key may do.');

/** The bounds in force for a key: its own over the configured ones. */
@ObjectType('ApiKeyLimits', { description: 'The bounds in force for an API key.' })
export class ApiKeyLimitsView {
  @ApiField.integer('generations created per minute; 0: no limit') creates_per_minute: number;
  @ApiField.integer('other requests per minute; 0: no limit') reads_per_minute: number;
  @ApiField.integer('tasks running at once, more wait; 0: no limit') max_running: number;
  @ApiField.integer('tasks queued at once, more are refused; 0: no limit') max_queued: number;
}

/** An API key as clients see it. The key itself is shown once only, by the call that made it. */
@ObjectType('ApiKey', { description: 'An API key: the tenant that tasks, files, limits and webhooks belong to.' })
export class ApiKeyView {
  @ApiField.string('identifier', { example: 'key_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.string('always "api_key"') object: 'api_key';
  @ApiField.string('what the key is for') name: string;
  @ApiField.list(ScopeChoice, 'what the key may do') scopes: Scope[];
  @ApiField.object(() => ApiKeyLimitsView, 'the bounds in force') limits: ApiKeyLimitsView;
  @ApiField.string('enough of the current secret to recognise it', { example: 'dr_ab…WXYZ' }) hint: string;
  @ApiField.integer('unix seconds') created_at: number;
  @ApiField.integer('unix seconds; null: never', { nullable: true }) expires_at: number | null;
  @ApiField.integer('unix seconds, exact to about a minute; null: not yet', { nullable: true })
  last_used_at: number | null;
  @ApiField.string('the key itself; only in the answer to its creation or rotation', { optional: true }) key?: string;
}

export class ApiKeyListView {
  @ApiField.string('always "list"') object: 'list';
  @ApiField.list(() => ApiKeyView, 'newest first') data: ApiKeyView[];
  @ApiField.boolean('whether there are older ones') has_more: boolean;
  @ApiField.string('null in an empty list', { nullable: true }) first_id: string | null;
  @ApiField.string('goes into `after` for the next page; null in an empty list', { nullable: true })
  last_id: string | null;
}

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
    created_at: unixSeconds(apiKey.createdAt),
    expires_at: apiKey.expiresAt && unixSeconds(apiKey.expiresAt),
    last_used_at: apiKey.lastUsedAt && unixSeconds(apiKey.lastUsedAt),
    ...(key !== undefined && { key }),
  };
}

export function toApiKeyListView(apiKeys: ApiKey[], hasMore: boolean, config: Config): ApiKeyListView {
  return {
    object: 'list',
    data: apiKeys.map((apiKey) => toApiKeyView(apiKey, config)),
    has_more: hasMore,
    first_id: apiKeys.at(0)?.id ?? null,
    last_id: apiKeys.at(-1)?.id ?? null,
  };
}

const unixSeconds = (date: Date) => Math.floor(date.getTime() / 1000);
