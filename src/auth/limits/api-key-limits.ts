import { InputType, ObjectType } from '@nestjs/graphql';
import type { Config } from '../../platform/config/config.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import type { CallerLimits } from '../access/caller.ts';
import type { Budget } from './budget.ts';
import { BudgetInput, BudgetView, toBudgetView } from './budget.view.ts';

const MAX_LIMIT = 1_000_000_000; // fits the 32-bit integers of GraphQL and PostgreSQL
const MAX_WEIGHT = 100;
const MAX_BYTES = 1_000_000_000_000_000; // a petabyte
/** About a quarter of an hour: a client must still find what it has just made. */
const MIN_RETENTION_DAYS = 0.01;
const MAX_RETENTION_DAYS = 36_500;
/** The weight of a key that has none of its own. */
export const USUAL_WEIGHT = 10;

/**
 * The limits set on the key itself. The configuration supplies those that are missing. 0 = no limit, except for the
 * weight, the retentions and the budget.
 */
export interface ApiKeyLimits {
  creates_per_minute?: number;
  reads_per_minute?: number;
  max_running?: number;
  max_queued?: number;
  max_file_bytes?: number;
  max_request_file_bytes?: number;
  max_kept_bytes?: number;
  weight?: number;
  task_retention_days?: number;
  file_retention_days?: number;
  /** Missing: the key may spend without a bound. */
  budget?: Budget;
}

/** A plain object without undefined fields. */
export const plainLimits = <Limits extends LimitChanges>(limits: Limits): Limits =>
  JSON.parse(JSON.stringify(limits)) as Limits;

/** The limits of the key, and the configured defaults for the rest. No retention is longer than configured. */
export function limitsInForce(own: ApiKeyLimits, config: Config): CallerLimits {
  const taskRetentionDays = Math.min(own.task_retention_days ?? Infinity, config.taskRetentionDays);
  const fileRetentionDays = Math.min(own.file_retention_days ?? Infinity, config.fileRetentionDays, taskRetentionDays);
  return {
    createsPerMinute: own.creates_per_minute ?? config.rateCreatePerMin,
    readsPerMinute: own.reads_per_minute ?? config.rateReadPerMin,
    maxRunning: own.max_running ?? config.maxRunningPerKey,
    maxQueued: own.max_queued ?? config.maxQueuedPerKey,
    maxFileBytes: own.max_file_bytes ?? config.maxFileBytesPerKey,
    maxRequestFileBytes: own.max_request_file_bytes ?? config.maxRequestFileBytesPerKey,
    maxKeptBytes: own.max_kept_bytes ?? config.maxKeptBytesPerKey,
    weight: own.weight ?? USUAL_WEIGHT,
    taskRetentionDays,
    fileRetentionDays,
  };
}

/** The limits set on the key itself, under their camelCase names. */
export function ownLimits(own: ApiKeyLimits): Partial<CallerLimits> {
  const limits = Object.entries(LIMIT_NAMES).map(([key, name]) => [key, own[name]] as const);
  return Object.fromEntries(limits.filter(([, limit]) => limit !== undefined));
}

/** null removes the limit from the key. */
export type LimitChanges = { [Name in keyof ApiKeyLimits]?: ApiKeyLimits[Name] | null };

/** The limits set on a key after a change. If `changes` is null, no limit is left. */
export function changedLimits(own: ApiKeyLimits, changes: LimitChanges | null): ApiKeyLimits {
  const limits = Object.entries({ ...(changes && own), ...changes });
  return Object.fromEntries(limits.filter(([, limit]) => limit !== null && limit !== undefined));
}

/** The values in force of the limits that `changes` names. null names all limits. */
export function concerned(inForce: CallerLimits, changes: LimitChanges | null): Partial<CallerLimits> {
  const names = Object.entries(LIMIT_NAMES).filter(([, name]) => changes === null || changes[name] !== undefined);
  return Object.fromEntries(names.map(([key]) => [key, inForce[key as keyof CallerLimits]]));
}

/** The names of the limits in the API. */
export const LIMIT_NAMES = {
  createsPerMinute: 'creates_per_minute',
  readsPerMinute: 'reads_per_minute',
  maxRunning: 'max_running',
  maxQueued: 'max_queued',
  maxFileBytes: 'max_file_bytes',
  maxRequestFileBytes: 'max_request_file_bytes',
  maxKeptBytes: 'max_kept_bytes',
  weight: 'weight',
  taskRetentionDays: 'task_retention_days',
  fileRetentionDays: 'file_retention_days',
} as const satisfies Record<keyof CallerLimits, keyof ApiKeyLimits>;

// The three classes below name their fields one by one: a mapped type of Nest, such as `PartialType`, carries over the
// metadata of GraphQL or of OpenAPI, and these fields need both.

/**
 * The effective limits: those of the key, and the configured defaults for the rest. No retention is longer than
 * configured.
 */
@ObjectType('ApiKeyLimits', { description: 'The effective limits of an API key.' })
export class ApiKeyLimitsView {
  @ApiField.integer('generations that may be created in a minute; 0: no limit') creates_per_minute: number;
  @ApiField.integer('other requests that may be made in a minute; 0: no limit') reads_per_minute: number;
  @ApiField.integer('tasks that may run at once, further tasks wait; 0: no limit') max_running: number;
  @ApiField.integer('tasks that may be queued at once, further tasks are rejected; 0: no limit') max_queued: number;
  @ApiField.long('bytes of uploads that may be stored at once, further uploads are rejected; 0: no limit')
  max_file_bytes: number;
  @ApiField.long('bytes of files inside requests that may be stored at once, further ones are rejected; 0: no limit')
  max_request_file_bytes: number;
  @ApiField.long('bytes of outputs that may be kept at once, further ones are rejected; 0: no limit')
  max_kept_bytes: number;
  @ApiField.integer('share of worker time while several keys wait: twice the weight, twice the time')
  weight: number;
  @ApiField.number('days from its creation for which the record of a task is kept') task_retention_days: number;
  @ApiField.number('days from its end for which the files of a task are kept') file_retention_days: number;
  @ApiField.object(() => BudgetView, 'what its tasks may cost; null: no bound', { nullable: true })
  budget: BudgetView | null;
}

/** The limits in force and the budget, as the API shows them. */
export function toLimitsView(own: ApiKeyLimits, config: Config): ApiKeyLimitsView {
  const inForce = limitsInForce(own, config);
  const limits = Object.entries(LIMIT_NAMES).map(([key, name]) => [name, inForce[key as keyof CallerLimits]]);
  return { ...Object.fromEntries(limits), budget: own.budget ? toBudgetView(own.budget) : null } as ApiKeyLimitsView;
}

/** Limits that override the configured ones. 0 = no limit, except for the weight, the retentions and the budget. */
@InputType('ApiKeyLimitsInput', { description: 'Limits of an API key. 0: no limit.' })
export class ApiKeyLimitsInput implements ApiKeyLimits {
  @Limit('generations that may be created in a minute') creates_per_minute?: number;
  @Limit('other requests that may be made in a minute') reads_per_minute?: number;
  @Limit('tasks that may run at once, further tasks wait') max_running?: number;
  @Limit('tasks that may be queued at once, further tasks are rejected') max_queued?: number;
  @ApiField.long('bytes of uploads that may be stored at once, further uploads are rejected; 0: no limit', {
    optional: true,
    min: 0,
    max: MAX_BYTES,
  })
  max_file_bytes?: number;
  @ApiField.long('bytes of files inside requests that may be stored at once, further ones are rejected; 0: no limit', {
    optional: true,
    min: 0,
    max: MAX_BYTES,
  })
  max_request_file_bytes?: number;
  @ApiField.long('bytes of outputs that may be kept at once, further ones are rejected; 0: no limit', {
    optional: true,
    min: 0,
    max: MAX_BYTES,
  })
  max_kept_bytes?: number;
  @ApiField.integer(
    'share of worker time while several keys wait: twice the weight, twice the time; 10 when left out',
    {
      optional: true,
      min: 1,
      max: MAX_WEIGHT,
    },
  )
  weight?: number;
  @Retention('from its creation for which the record of a task is kept') task_retention_days?: number;
  @Retention('from its end for which the files of a task are kept') file_retention_days?: number;
  @ApiField.object(() => BudgetInput, 'what its tasks may cost; without it there is no bound', { optional: true })
  budget?: BudgetInput;
}

@InputType('ApiKeyLimitChangesInput', {
  description: 'Changes to limits of an API key. A field that is left out stays as it is.',
})
export class ApiKeyLimitChangesInput implements LimitChanges {
  @LimitChange('generations that may be created in a minute') creates_per_minute?: number | null;
  @LimitChange('other requests that may be made in a minute') reads_per_minute?: number | null;
  @LimitChange('tasks that may run at once') max_running?: number | null;
  @LimitChange('tasks that may be queued at once') max_queued?: number | null;
  @ApiField.long('bytes of uploads that may be stored at once. 0: no limit. null: the limit of the configuration', {
    optional: true,
    nullable: true,
    min: 0,
    max: MAX_BYTES,
  })
  max_file_bytes?: number | null;
  @ApiField.long(
    'bytes of files inside requests that may be stored at once. 0: no limit. null: the limit of the configuration',
    {
      optional: true,
      nullable: true,
      min: 0,
      max: MAX_BYTES,
    },
  )
  max_request_file_bytes?: number | null;
  @ApiField.long('bytes of outputs that may be kept at once. 0: no limit. null: the limit of the configuration', {
    optional: true,
    nullable: true,
    min: 0,
    max: MAX_BYTES,
  })
  max_kept_bytes?: number | null;
  @ApiField.integer('share of worker time while several keys wait: twice the weight, twice the time. null: 10', {
    optional: true,
    nullable: true,
    min: 1,
    max: MAX_WEIGHT,
  })
  weight?: number | null;
  @RetentionChange('from its creation for which the record of a new task is kept') task_retention_days?: number | null;
  @RetentionChange('from its end for which the files of a new task are kept') file_retention_days?: number | null;
  @ApiField.object(() => BudgetInput, 'what its tasks may cost; replaces the earlier budget. null: no budget', {
    optional: true,
    nullable: true,
  })
  budget?: BudgetInput | null;
}

function Retention(note: string): PropertyDecorator {
  return ApiField.number(`days ${note}; at most those of the configuration`, {
    optional: true,
    min: MIN_RETENTION_DAYS,
    max: MAX_RETENTION_DAYS,
  });
}

function Limit(note: string): PropertyDecorator {
  return ApiField.integer(`${note}; 0: no limit`, { optional: true, min: 0, max: MAX_LIMIT });
}

function RetentionChange(note: string): PropertyDecorator {
  return ApiField.number(`days ${note}. null: as configured`, {
    optional: true,
    nullable: true,
    min: MIN_RETENTION_DAYS,
    max: MAX_RETENTION_DAYS,
  });
}

function LimitChange(note: string): PropertyDecorator {
  return ApiField.integer(`${note}. 0: no limit. null: the limit of the configuration`, {
    optional: true,
    nullable: true,
    min: 0,
    max: MAX_LIMIT,
  });
}
