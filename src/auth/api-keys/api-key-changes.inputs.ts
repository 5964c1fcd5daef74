import { InputType } from '@nestjs/graphql';
import { Transform } from 'class-transformer';
import { ApiField } from '../../platform/schema/api-field.ts';
import { MAX_UNIX_S } from '../../platform/schema/time.ts';
import type { Scope } from '../access/caller.ts';
import { ApiKeyLimitChangesInput, plainLimits } from '../limits/api-key-limits.ts';
import { MAX_NAME_LENGTH, MODELS } from './api-key.inputs.ts';
import { ScopeChoice } from './api-key.view.ts';
import type { ApiKeyChanges } from './api-key-acts.ts';

@InputType('UpdateApiKeyInput', {
  description: 'Changes to an API key. A field that is left out stays as it is.',
})
export class UpdateApiKeyInput {
  static readonly takesNull = ['expires_at', 'limits', 'models'] as const;

  @ApiField.string('a name for people', {
    optional: true,
    min: 1,
    max: MAX_NAME_LENGTH,
    pattern: { regex: /\S/, message: 'name must not be blank' },
  })
  name?: string;

  @ApiField.list(ScopeChoice, 'everything that the key may do', { optional: true, min: 1, unique: true })
  scopes?: Scope[];

  @ApiField.long('unix seconds, in the future; null: the key never expires', {
    optional: true,
    nullable: true,
    min: 1,
    max: MAX_UNIX_S,
  })
  expires_at?: number | null;

  @ApiField.object(() => ApiKeyLimitChangesInput, 'changes to the limits; null: the configured ones apply to all', {
    optional: true,
    nullable: true,
  })
  limits?: ApiKeyLimitChangesInput | null;

  @ApiField.list(
    'string',
    'ids of the models that it may use, exact or ending in *; null: every open one. Accepted tasks run on',
    MODELS,
  )
  models?: string[] | null;

  toChanges(): ApiKeyChanges {
    const { name, scopes, limits, models, expires_at } = this;
    return {
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes }),
      ...(models !== undefined && { models }),
      ...(limits !== undefined && { limits: limits && plainLimits(limits) }),
      ...(expires_at !== undefined && { expiresAt: expires_at === null ? null : new Date(expires_at * 1000) }),
    };
  }
}

export class RevokeApiKeyQuery {
  @ApiField.boolean('whether the queued tasks of the key still run; false when left out', { optional: true })
  @Transform(toBoolean)
  keep_tasks?: boolean;

  @ApiField.boolean(
    'whether the keys below it are revoked too: those that it has created, and theirs in turn; false when left out',
    { optional: true },
  )
  @Transform(toBoolean)
  children?: boolean;

  @ApiField.boolean('whether everything that was sent with the key or made for it is erased; false when left out', {
    optional: true,
  })
  @Transform(toBoolean)
  erase?: boolean;
}

function toBoolean({ value }: { value: unknown }): unknown {
  return value === 'true' ? true : value === 'false' ? false : value;
}
