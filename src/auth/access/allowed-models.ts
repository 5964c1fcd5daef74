import { ApiError } from '../../errors/api-error.ts';
import type { Caller } from './caller.ts';

/** The fields of a model that decide who may use it. */
interface Guarded {
  id: string;
  /**
   * true (`access: listed`): only a key with a list of models, its own or that of a key above it, may use the model.
   */
  isListed: boolean;
}

export const MAX_MODELS = 100;
/** The id of a model, or a prefix of ids followed by `*`. The prefix may be empty. */
export const MODEL_PATTERN = /^(\*|[a-z0-9][a-z0-9._-]{0,62}\*?)$/;

/** Whether one of the patterns matches the id. */
const names = (patterns: readonly string[], id: string): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern));

/** Whether `own` allows every model that `wanted` allows: each pattern of `wanted` is within one pattern of `own`. */
export const coversModels = (own: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((pattern) =>
    pattern.endsWith('*')
      ? own.some((each) => each.endsWith('*') && pattern.startsWith(each.slice(0, -1)))
      : names(own, pattern),
  );

/**
 * Whether each list of models contains this model. The lists are those of the key and of the keys above it. If there is
 * no list: whether the model lacks `access: listed`.
 */
export const mayUse = ({ models = [] }: Pick<Caller, 'models'>, { id, isListed }: Guarded): boolean =>
  models.length > 0 ? models.every((patterns) => names(patterns, id)) : !isListed;

/** @throws ApiError model_not_allowed */
export function assertMayUse(caller: Pick<Caller, 'models'>, model: Guarded): void {
  if (mayUse(caller, model)) return;
  throw new ApiError('model_not_allowed', {
    param: 'model',
    message: `This API key may not use the model ${model.id}.`,
  });
}
