import { InputType } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { MAX_UNIX_S } from '../../platform/schema/time.ts';
import { MAX_MODELS, MODEL_PATTERN } from '../access/allowed-models.ts';
import { ApiKeyLimitsInput, plainLimits } from '../limits/api-key-limits.ts';
import { ScopeChoice } from './api-key.view.ts';
import type { NewApiKey } from './api-key-acts.ts';
import type { Scope } from '../access/caller.ts';

export const MAX_NAME_LENGTH = 100;
const MAX_OVERLAP_HOURS = 168; // a week
const MAX_PAGE = 100;
const KEY_ID = /^key_[0-9a-z]{26}$/;
export const MODELS = {
  optional: true,
  nullable: true,
  min: 1,
  max: MAX_MODELS,
  unique: true,
  pattern: { regex: MODEL_PATTERN, message: '$property must be ids of models, or their beginnings and a * at the end' },
};
const idOf = (param: string) => ({ regex: KEY_ID, message: `${param} must be the id of an API key` });

@InputType('CreateApiKeyInput', { description: 'An API key to create.' })
export class CreateApiKeyInput {
  @ApiField.string('a name for people', {
    min: 1,
    max: MAX_NAME_LENGTH,
    pattern: { regex: /\S/, message: 'name must not be blank' },
  })
  name: string;

  @ApiField.list(
    ScopeChoice,
    'what the key may do; everything but keys:manage, operations:read and operations:manage when left out',
    {
      optional: true,
      min: 1,
      unique: true,
    },
  )
  scopes?: Scope[];

  @ApiField.long('unix seconds, in the future; the key never expires when left out', {
    optional: true,
    min: 1,
    max: MAX_UNIX_S,
  })
  expires_at?: number;

  @ApiField.object(() => ApiKeyLimitsInput, 'limits of this key; the configured ones apply to those left out', {
    optional: true,
  })
  limits?: ApiKeyLimitsInput;

  @ApiField.list(
    'string',
    'ids of the models that it may use, exact or ending in *, also of models for listed keys only; every open one when null or left out',
    MODELS,
  )
  models?: string[] | null;

  toNewApiKey(): NewApiKey {
    return {
      name: this.name,
      scopes: this.scopes,
      limits: plainLimits(this.limits ?? {}),
      models: this.models ?? null,
      expiresAt: this.expires_at === undefined ? null : new Date(this.expires_at * 1000),
    };
  }
}

export class RotateApiKeyInput {
  @ApiField.number('hours during which the old secret stays valid; 0 when left out', {
    optional: true,
    min: 0,
    max: MAX_OVERLAP_HOURS,
  })
  overlap_hours?: number;
}

export class ListApiKeysQuery {
  @ApiField.integer('keys per page, 100 when left out', { optional: true, min: 1, max: MAX_PAGE, fromQuery: true })
  limit?: number;

  /** Only the syntax is checked: paging must be able to continue after a key that was revoked in the meantime. */
  @ApiField.string('`last_id` of the previous page', { optional: true, pattern: idOf('after') })
  after?: string;

  @ApiField.string('only keys that this key has created', { optional: true, pattern: idOf('created_by') })
  created_by?: string;
}

/**
 * Checks the syntax of an id in a GraphQL argument. Such arguments have no input class that would check it.
 * @throws ApiError invalid_value
 */
export function assertKeyId(param: 'after' | 'created_by', id: string | null | undefined): string | undefined {
  if (typeof id !== 'string') return undefined;
  if (!KEY_ID.test(id)) throw new ApiError('invalid_value', { param, message: `${idOf(param).message}.` });
  return id;
}

/** @throws ApiError value_out_of_range */
export function assertOverlap(hours: number): number {
  if (hours >= 0 && hours <= MAX_OVERLAP_HOURS) return hours;
  const message = `overlapHours must be from 0 to ${MAX_OVERLAP_HOURS}.`;
  throw new ApiError('value_out_of_range', { param: 'overlap_hours', message });
}
