import { InputType } from '@nestjs/graphql';
import { Transform } from 'class-transformer';
import { ApiField } from '../../platform/schema/api-field.ts';
import { MAX_UNIX_S } from '../../platform/schema/time.ts';
import { BudgetInput } from '../limits/budget.view.ts';
import type { Scope } from '../access/caller.ts';
import { type LimitChanges, plainLimits } from '../limits/api-key-limits.ts';
import {
  MAX_BYTES,
  MAX_LIMIT,
  MAX_NAME_LENGTH,
  MAX_RETENTION_DAYS,
  MAX_WEIGHT,
  MIN_RETENTION_DAYS,
} from './api-key.inputs.ts';
import { ScopeChoice } from './api-key.view.ts';
import type { ApiKeyChanges } from './api-key-acts.ts';

@InputType('ApiKeyLimitChangesInput', {
  description: 'Changes to limits of an API key. A field that is left out stays as it is.',
})
export class ApiKeyLimitChangesInput implements LimitChanges {
  @LimitChange('generations created per minute') creates_per_minute?: number | null;
  @LimitChange('other requests per minute') reads_per_minute?: number | null;
  @LimitChange('tasks running at once') max_running?: number | null;
  @LimitChange('tasks queued at once') max_queued?: number | null;
  @ApiField.long('bytes of uploads stored at once; 0: no limit; null: the configured one applies', {
    optional: true,
    nullable: true,
    min: 0,
    max: MAX_BYTES,
  })
  max_file_bytes?: number | null;
  @ApiField.integer('share of the starts while tasks of several keys wait; null: 10', {
    optional: true,
    nullable: true,
    min: 1,
    max: MAX_WEIGHT,
  })
  weight?: number | null;
  @RetentionChange('the record of a task is kept, from its creation') task_retention_days?: number | null;
  @RetentionChange('the files of a task are kept, from its end') file_retention_days?: number | null;
  @ApiField.object(() => BudgetInput, 'what its tasks may cost, in place of an earlier budget; null: no budget', {
    optional: true,
    nullable: true,
  })
  budget?: BudgetInput | null;
}

@InputType('UpdateApiKeyInput', {
  description: 'Changes to an API key. A field that is left out stays as it is.',
})
export class UpdateApiKeyInput {
  static readonly takesNull = ['expires_at', 'limits'] as const;

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

  toChanges(): ApiKeyChanges {
    const { name, scopes, limits, expires_at } = this;
    return {
      ...(name !== undefined && { name }),
      ...(scopes !== undefined && { scopes }),
      ...(limits !== undefined && { limits: limits && plainLimits(limits) }),
      ...(expires_at !== undefined && { expiresAt: expires_at === null ? null : new Date(expires_at * 1000) }),
    };
  }
}

export class RevokeApiKeyQuery {
  @ApiField.boolean('whether the queued tasks of the key still run; false when left out', { optional: true })
  @Transform(toBoolean)
  keep_tasks?: boolean;

  @ApiField.boolean('whether everything that the key has brought is erased; false when left out', { optional: true })
  @Transform(toBoolean)
  erase?: boolean;
}

function toBoolean({ value }: { value: unknown }): unknown {
  return value === 'true' ? true : value === 'false' ? false : value;
}

function RetentionChange(note: string): PropertyDecorator {
  return ApiField.number(`days that ${note}, for new tasks; null: the configured ones`, {
    optional: true,
    nullable: true,
    min: MIN_RETENTION_DAYS,
    max: MAX_RETENTION_DAYS,
  });
}

function LimitChange(note: string): PropertyDecorator {
  return ApiField.integer(`${note}; 0: no limit; null: the configured one applies`, {
    optional: true,
    nullable: true,
    min: 0,
    max: MAX_LIMIT,
  });
}
