import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { Config } from '../../platform/config/config.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { BudgetStatusView, BudgetView, toBudgetStatus, toBudgetView } from '../limits/budget.view.ts';
import type { BudgetState } from '../limits/budget.ts';
import { limitsInForce } from '../limits/api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';
import { type Scope, SCOPES } from '../access/caller.ts';

export const ScopeChoice = defineChoice('ApiKeyScope', SCOPES, 'What an API key may do.');

/** The effective limits: those of the key, and the configured defaults for the rest. */
@ObjectType('ApiKeyLimits', { description: 'The effective limits of an API key.' })
export class ApiKeyLimitsView {
  @ApiField.integer('generations created per minute; 0: no limit') creates_per_minute: number;
  @ApiField.integer('other requests per minute; 0: no limit') reads_per_minute: number;
  @ApiField.integer('tasks running at once, further tasks wait; 0: no limit') max_running: number;
  @ApiField.integer('tasks queued at once, further tasks are rejected; 0: no limit') max_queued: number;
  @ApiField.long('bytes of uploads stored at once, further uploads are rejected; 0: no limit') max_file_bytes: number;
  @ApiField.integer('share of the starts while tasks of several keys wait: twice the weight, twice the share')
  weight: number;
  @ApiField.number('days that the record of a task is kept, from its creation') task_retention_days: number;
  @ApiField.number('days that the files of a task are kept, from its end') file_retention_days: number;
  @ApiField.object(() => BudgetView, 'what its tasks may cost; null: no bound', { nullable: true })
  budget: BudgetView | null;
}

/** An API key as clients see it. */
@ObjectType('ApiKey', { description: 'An API key: the tenant that owns tasks, files, limits and webhooks.' })
export class ApiKeyView {
  @ApiField.string('identifier', { example: 'key_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('api_key') object: 'api_key';
  @ApiField.string('a name for people') name: string;
  @ApiField.list(ScopeChoice, 'what the key may do') scopes: Scope[];
  @ApiField.object(() => ApiKeyLimitsView, 'the effective limits') limits: ApiKeyLimitsView;
  @ApiField.object(() => BudgetStatusView, 'what is used of the budget; null without one', { nullable: true })
  budget_status: BudgetStatusView | null;
  @ApiField.string('the first and last characters of the current secret, to recognise it', { example: 'dr_ab…WXYZ' })
  hint: string;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.long('unix seconds; null: never', { nullable: true }) expires_at: number | null;
  @ApiField.long('unix seconds, accurate to about a minute; null: not used yet', { nullable: true })
  last_used_at: number | null;
  @ApiField.string('the key itself; only in the response to creation or rotation', { optional: true }) key?: string;
}

export class ApiKeyListView extends listOf(ApiKeyView, 'newest first') {}

/** @param budget of the key; undefined without one */
export function toApiKeyView(apiKey: ApiKey, config: Config, budget: BudgetState | undefined): ApiKeyView {
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
      max_file_bytes: limits.maxFileBytes,
      weight: limits.weight,
      task_retention_days: limits.taskRetentionDays,
      file_retention_days: limits.fileRetentionDays,
      budget: apiKey.limits.budget ? toBudgetView(apiKey.limits.budget) : null,
    },
    budget_status: budget ? toBudgetStatus(budget) : null,
    hint: apiKey.hint,
    created_at: unixSeconds(apiKey.created_at),
    expires_at: apiKey.expires_at && unixSeconds(apiKey.expires_at),
    last_used_at: apiKey.last_used_at && unixSeconds(apiKey.last_used_at),
  };
}
