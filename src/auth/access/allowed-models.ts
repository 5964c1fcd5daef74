import { ApiError } from '../../errors/api-error.ts';
import type { Caller } from './caller.ts';

/** What decides who may use a model. */
interface Guarded {
  id: string;
  /**
   * true (`access: listed`): only a key with a list of models, its own or that of a key above it, may use the model.
   */
  isListed: boolean;
}

export const MAX_MODELS = 100;
/** The id of a model; or the beginning of an id, perhaps empty, followed by `*`. */
export const MODEL_PATTERN = /^(\*|[a-z0-9][a-z0-9._-]{0,62}\*?)$/;

/** Whether one of the patterns names the model. */
const names = (patterns: readonly string[], id: string): boolean =>
  patterns.some((pattern) => (pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern));

/** Whether each pattern of `wanted` is within one pattern of `own`. */
export const coversModels = (own: readonly string[], wanted: readonly string[]): boolean =>
  wanted.every((pattern) =>
    pattern.endsWith('*')
      ? own.some((each) => each.endsWith('*') && pattern.startsWith(each.slice(0, -1)))
      : names(own, pattern),
  );

/**
 * Whether every list of models, of the key and of the keys above it, names this model. Without any list: whether the
 * model is not listed.
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
