import { ApiError } from '../../errors/api-error.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { coversModels } from '../access/allowed-models.ts';
import type { CallerLimits, Scope } from '../access/caller.ts';
import { type Budget, describeBudget, isWithin } from '../limits/budget.ts';
import type { Config } from '../../platform/config/config.ts';
import { LIMIT_NAMES, limitsInForce } from '../limits/api-key-limits.ts';
import type { ApiKey } from './api-key.entity.ts';

/** The API key that acts on another one, as the database has it now. */
export interface Grantor {
  scopes: readonly Scope[];
  /** The limits set on the key itself. A configured default does not limit what the key may grant. */
  limits: Partial<CallerLimits>;
  budget: Budget | undefined;
  /** null: the key may grant every model, also one with `access: listed`. */
  models: string[] | null;
  expiresAt: Date | null;
  /** The bounded keys above this one. A grant must be within their bounds too. */
  above?: readonly Grantor[];
}

/** What a creation, change or rotation gives to a key. A missing field stays unchanged. */
export interface Grant {
  scopes?: readonly Scope[];
  /** The limits in force. */
  limits?: Partial<CallerLimits>;
  /** null: no budget, so nothing bounds the cost. */
  budget?: Budget | null;
  /** null: every model without `access: listed`. */
  models?: string[] | null;
  /** null: never. */
  expiresAt?: Date | null;
}

/**
 * A key can grant only what it has itself: scopes, limits, a budget, models and time. Otherwise `keys:manage` alone
 * would imply everything.
 * @throws ApiError insufficient_scope
 */
export function assertMayGrant(by: Grantor, grant: Grant): void {
  for (const one of [by, ...(by.above ?? [])]) assertWithin(one, grant);
}

function assertWithin(by: Grantor, { scopes = [], limits = {}, budget, models, expiresAt }: Grant): void {
  const missing = scopes.filter((scope) => !by.scopes.includes(scope));
  if (missing.length > 0) refuse('scopes', `This API key lacks ${quoted(missing)}, so it cannot grant such a key.`);

  for (const [name, limit] of Object.entries(limits) as [keyof CallerLimits, number][]) {
    const own = by.limits[name];
    if (own === undefined || orUnlimited(limit) <= orUnlimited(own)) continue;
    const param = `limits.${LIMIT_NAMES[name]}`;
    refuse(param, `This API key has the limit ${own}, so it cannot grant ${param} ${shown(limit)}.`);
  }

  if (by.budget && budget !== undefined && !isWithin(budget ?? undefined, by.budget)) {
    const given = budget === null ? 'none' : describeBudget(budget);
    const own = describeBudget(by.budget);
    refuse('limits.budget', `This API key has the budget of ${own}, so it cannot grant limits.budget ${given}.`);
  }

  if (by.models && models !== undefined && !(models && coversModels(by.models, models))) {
    const given = models === null ? 'null' : models.join(', ');
    refuse('models', `This API key may use ${by.models.join(', ')}, so it cannot grant models ${given}.`);
  }

  const endMs = expiresAt?.getTime() ?? Infinity;
  if (expiresAt !== undefined && endMs > (by.expiresAt?.getTime() ?? Infinity)) {
    const ownEnd = unixSeconds(by.expiresAt!);
    refuse('expires_at', `This API key expires at ${ownEnd}, so it cannot grant a key that lives longer.`);
  }
}

/** The limits, budget, models and expiry of a key, as a grant without scopes. */
export const boundsOf = ({ limits, models, expires_at: expiresAt }: ApiKey, config: Config): Grant => ({
  limits: limitsInForce(limits, config),
  budget: limits.budget ?? null,
  models,
  expiresAt,
});

/**
 * Only a key that has all scopes of another key may act on that key.
 * @throws ApiError insufficient_scope
 */
export function assertCovers(by: Grantor, scopes: readonly Scope[]): void {
  const missing = scopes.filter((scope) => !by.scopes.includes(scope));
  if (missing.length === 0) return;
  throw new ApiError('insufficient_scope', {
    message: `This API key lacks ${quoted(missing)}, so it cannot change, rotate or revoke a key that has more.`,
  });
}

/** 0 means no limit, which is more than any number. */
const orUnlimited = (limit: number): number => (limit === 0 ? Infinity : limit);
const shown = (limit: number): string => (limit === 0 ? '0 (no limit)' : String(limit));
const quoted = (scopes: readonly Scope[]): string => scopes.map((scope) => `"${scope}"`).join(', ');

function refuse(param: string, message: string): never {
  throw new ApiError('insufficient_scope', { param, message });
}
