import { ObjectType } from '@nestjs/graphql';
import { NodeView } from '../../platform/graphql/node.view.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { Config } from '../../platform/config/config.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { BudgetStatusView, toBudgetStatus } from '../limits/budget.view.ts';
import type { BudgetState } from '../limits/budget.ts';
import { ApiKeyLimitsView, toLimitsView } from '../limits/api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';
import { type Scope, SCOPES } from '../access/caller.ts';

export const ScopeChoice = defineChoice('ApiKeyScope', SCOPES, 'What an API key may do.');

@ObjectType('ApiKey', {
  description: 'An API key: the tenant that owns tasks, files, limits and webhooks.',
  implements: () => NodeView,
})
export class ApiKeyView {
  @ApiField.id('identifier', { example: 'key_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('api_key') object: 'api_key';
  @ApiField.string('a name for people') name: string;
  @ApiField.list(ScopeChoice, 'what the key may do') scopes: Scope[];
  @ApiField.object(() => ApiKeyLimitsView, 'the effective limits') limits: ApiKeyLimitsView;
  @ApiField.list('string', 'ids of the models that it may use, exact or ending in *; null: every open one', {
    nullable: true,
  })
  models: string[] | null;
  @ApiField.object(() => BudgetStatusView, 'how much of the budget is used; null without one', { nullable: true })
  budget_status: BudgetStatusView | null;
  @ApiField.string('the first and last characters of the current secret, to recognise it', { example: 'dr_ab…WXYZ' })
  hint: string;
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.string('the API key that created it. null: it was created without a key, or by an earlier release', {
    nullable: true,
  })
  created_by: string | null;
  @ApiField.long('unix seconds; null: never', { nullable: true }) expires_at: number | null;
  @ApiField.long('unix seconds, accurate to about a minute; null: not used yet', { nullable: true })
  last_used_at: number | null;
  @ApiField.string('the key itself; only in the response to creation or rotation', { optional: true }) key?: string;
}

export class ApiKeyListView extends listOf(ApiKeyView, 'newest first') {}

/** @param budget the budget of the key; undefined if the key has none */
export function toApiKeyView(apiKey: ApiKey, config: Config, budget: BudgetState | undefined): ApiKeyView {
  return {
    id: apiKey.id,
    object: 'api_key',
    name: apiKey.name,
    scopes: apiKey.scopes,
    limits: toLimitsView(apiKey.limits, config),
    models: apiKey.models,
    budget_status: budget ? toBudgetStatus(budget) : null,
    hint: apiKey.hint,
    created_at: unixSeconds(apiKey.created_at),
    created_by: apiKey.created_by,
    expires_at: apiKey.expires_at && unixSeconds(apiKey.expires_at),
    last_used_at: apiKey.last_used_at && unixSeconds(apiKey.last_used_at),
  };
}
