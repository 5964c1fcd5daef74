import type { Draft } from './draft.ts';
import { requestOf, schemaOf, switchModel, type Values } from './schema-rules.ts';

/** The further models that get the same request, and how often each model gets it. */
export interface Fan {
  also: readonly string[];
  repeat: number;
}

export const MAX_ALSO = 3;
export const MAX_REPEAT = 8;

interface ModelLike {
  id: string;
  kind: string;
  available: boolean;
  parameters: unknown;
}

/** The other available models of the same kind, which can get the same request. */
export const othersOf = <Model extends ModelLike>(models: readonly Model[], model: ModelLike): Model[] =>
  models.filter(({ id, kind, available }) => id !== model.id && kind === model.kind && available);

/** The fan-out of a draft within the limits, without models that cannot get the same request. */
export function fanOf({ also = [], repeat = 1 }: Draft, models: readonly ModelLike[], model: ModelLike): Fan {
  const allowed = new Set(othersOf(models, model).map(({ id }) => id));
  return {
    also: also.filter((id) => allowed.has(id)).slice(0, MAX_ALSO),
    repeat: Math.min(MAX_REPEAT, Math.max(1, Math.round(repeat) || 1)),
  };
}

export interface Target {
  model: string;
  request: Values & { model: string; prompt: string };
  /** Which values were changed because the model lacks them, such as `resolution 4K → 720p: …`. */
  notes: string[];
}

/** A request for each model, with the values that the model allows. The chosen model is the first. */
export function targetsOf(models: readonly ModelLike[], model: ModelLike, values: Values, { also }: Fan): Target[] {
  return [model, ...models.filter(({ id }) => also.includes(id))].map((each) => {
    const schema = schemaOf(each);
    const fitting =
      each.id === model.id ? { values, notes: [] } : switchModel(values, schemaOf(model), schema, each.id);
    const request = requestOf(each.id, schema, fitting.values) as Target['request'];
    return { model: each.id, request, notes: fitting.notes };
  });
}
