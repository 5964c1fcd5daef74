import type { Config } from '../../platform/config/config.ts';
import type { Budget } from './budget.ts';
import type { CallerLimits } from '../access/caller.ts';

/** The weight of a key that has none of its own. */
export const USUAL_WEIGHT = 10;

/** The limits set on the key itself. The configuration supplies those that are missing. 0 = no limit. */
export interface ApiKeyLimits {
  creates_per_minute?: number;
  reads_per_minute?: number;
  max_running?: number;
  max_queued?: number;
  max_file_bytes?: number;
  weight?: number;
  task_retention_days?: number;
  file_retention_days?: number;
  /** Without it the key may spend without a bound. */
  budget?: Budget;
}

/** A plain object without the fields that were left out. */
export const plainLimits = <Limits extends LimitChanges>(limits: Limits): Limits =>
  JSON.parse(JSON.stringify(limits)) as Limits;

/** The limits of the key, and the configured defaults for the rest. */
export function limitsInForce(own: ApiKeyLimits, config: Config): CallerLimits {
  const taskRetentionDays = Math.min(own.task_retention_days ?? Infinity, config.taskRetentionDays);
  const fileRetentionDays = Math.min(own.file_retention_days ?? Infinity, config.fileRetentionDays, taskRetentionDays);
  return {
    createsPerMinute: own.creates_per_minute ?? config.rateCreatePerMin,
    readsPerMinute: own.reads_per_minute ?? config.rateReadPerMin,
    maxRunning: own.max_running ?? config.maxRunningPerKey,
    maxQueued: own.max_queued ?? config.maxQueuedPerKey,
    maxFileBytes: own.max_file_bytes ?? config.maxFileBytesPerKey,
    weight: own.weight ?? USUAL_WEIGHT,
    taskRetentionDays,
    fileRetentionDays,
  };
}

/** The limits set on the key itself, by the names of the code. */
export function ownLimits(own: ApiKeyLimits): Partial<CallerLimits> {
  const limits = Object.entries(LIMIT_NAMES).map(([key, name]) => [key, own[name]] as const);
  return Object.fromEntries(limits.filter(([, limit]) => limit !== undefined));
}

/** null removes an own limit. */
export type LimitChanges = { [Name in keyof ApiKeyLimits]?: ApiKeyLimits[Name] | null };

/** The own limits of a key after a change. null removes them all. */
export function changedLimits(own: ApiKeyLimits, changes: LimitChanges | null): ApiKeyLimits {
  const limits = Object.entries({ ...(changes && own), ...changes });
  return Object.fromEntries(limits.filter(([, limit]) => limit !== null && limit !== undefined));
}

/** The limits in force that a change concerns. */
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
  weight: 'weight',
  taskRetentionDays: 'task_retention_days',
  fileRetentionDays: 'file_retention_days',
} as const satisfies Record<keyof CallerLimits, keyof ApiKeyLimits>;
