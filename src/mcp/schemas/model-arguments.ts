import type { Caller } from '../../auth/access/caller.ts';
import { modelsFor, perSet } from '../../models/catalog.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Model } from '../../models/definition/model.ts';
import type { ParameterSchema } from '../../models/definition/parameters.ts';
import { isOwn, VOCABULARY, widestSchemas } from '../../models/declaration/vocabulary.ts';

/** The JSON Schema of one argument of a tool. */
export type ArgumentSchema = Partial<Omit<ParameterSchema, 'items'>> & { items?: ArgumentSchema };

interface Taker {
  model: Model;
  schema: ParameterSchema;
}

export const ofKind = (models: readonly Model[], kind: MediaKind): Model[] =>
  models.filter((model) => model.kind === kind);

/** Makes a value from the models that a caller may use. All callers whose keys name no models share one value. */
export function perCaller<Made>(make: (models: readonly Model[]) => Made): (caller: Caller) => Made {
  const shared = perSet(() => make(modelsFor({})));
  return (caller) => (caller.models ? make(modelsFor(caller)) : shared());
}

/**
 * The maximum number of models that the tools name. If there are more, only list_models names them, because an agent
 * reads the descriptions of all tools at once.
 */
const MAX_LISTED = 20;
const MAX_NAMED = 8;
const MAX_VALUES = 32;

/** @param models of one kind, the default first */
export function modelArgument(models: readonly Model[]): ArgumentSchema {
  if (models.length > MAX_LISTED) {
    const description = `The id of the model that makes it, one of ${models.length}: call list_models.`;
    return { type: 'string', default: models[0]!.id, description };
  }
  const about =
    models.length > MAX_NAMED
      ? ['list_models says what each is for.']
      : models.map(({ id, description }) => `${id}: ${description}`);
  return {
    type: 'string',
    ...(models[0] && { enum: models.map(({ id }) => id), default: models[0].id }),
    description: ['The model that makes it.', ...about].join(' '),
  };
}

/**
 * The parameters that models may share, besides the prompt. `output_compression` is left out, because agents do not
 * need it.
 */
export const WORDS = [...Object.keys(VOCABULARY).filter((name) => name !== 'prompt'), 'output_format'];

/**
 * The arguments for the parameters that models of a kind take. Each argument is the union of what the models take,
 * because several LLM APIs refuse schemas with alternatives. The description says which model takes what, and the
 * creation checks the values.
 */
export const unionArguments = (models: readonly Model[], names: readonly string[]): Record<string, ArgumentSchema> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const argument = unionArgument(models, name);
      return argument ? [[name, argument]] : [];
    }),
  );

function unionArgument(models: readonly Model[], name: string): ArgumentSchema | null {
  const takers = models.flatMap((model): Taker[] => {
    const schema = model.parameters.properties[name];
    return schema ? [{ model, schema }] : [];
  });
  const [first] = takers;
  if (!first) return null;
  const schemas = takers.map(({ schema }) => schema);
  const { items } = first.schema;
  return {
    type: first.schema.type,
    description: describe(wordsFor(name, takers), takers, takers.length === models.length),
    ...values(schemas),
    ...bound('minimum', schemas, Math.min),
    ...bound('maximum', schemas, Math.max),
    ...bound('minLength', schemas, Math.min),
    ...bound('maxLength', schemas, Math.max),
    ...bound('maxItems', schemas, Math.max),
    ...(items && { items: { type: items.type, description: items.description } }),
  };
}

/**
 * Uses the shared description if those of the models differ, because the words of one model may be wrong for another.
 */
function wordsFor(name: string, [first, ...others]: Taker[]): string {
  const { model, schema } = first!;
  const isSame = others.every((other) => other.schema.description === schema.description);
  return isSame
    ? schema.description
    : firstSentences(widestSchemas(model.kind)[name]?.description ?? schema.description, false);
}

/** The values of all models together, if each model has a list of values. No list if there are more than MAX_VALUES. */
function values(schemas: readonly ParameterSchema[]): ArgumentSchema {
  if (schemas.some((schema) => !schema.enum)) return {};
  const all = [...new Set(schemas.flatMap((schema) => schema.enum!))];
  return all.length > MAX_VALUES ? {} : { enum: all };
}

/** The widest bound. No bound if a model has none. */
function bound(
  name: 'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'maxItems',
  schemas: readonly ParameterSchema[],
  choose: (...values: number[]) => number,
): ArgumentSchema {
  const bounds = schemas.map((schema) => schema[name]).filter((value) => value !== undefined);
  return bounds.length === schemas.length ? { [name]: choose(...bounds) } : {};
}

function describe(description: string, takers: Taker[], isTakenByAll: boolean): string {
  const byLimits = [...Map.groupBy(takers, ({ schema }) => limitsOf(schema)).entries()].map(
    ([limits, group]) => [limits, idsOf(group)] as const,
  );
  const isSame = byLimits.length === 1;
  if (byLimits.length > MAX_NAMED) {
    return `${firstSentences(description, false)} ${takers.length} models take it, each within its own bounds: see list_models.`;
  }
  if (isSame && isTakenByAll) return [description, defaultOf(takers[0]!.schema)].filter(Boolean).join(' ');
  const text = firstSentences(description, isSame && !PIXELS.test(description));
  if (isSame) return `${text} Only ${idsOf(takers)}${suffix(byLimits[0]![0])}.`;
  return `${text} ${byLimits.map(([limits, ids]) => `${ids}: ${limits || 'any'}`).join('; ')}.`;
}

/**
 * Removes the numbers from the description of one model, because they would be wrong for other models.
 * @param isSame whether the numbers are those of all models, and so stay
 */
const firstSentences = (description: string, isSame: boolean): string =>
  isSame ? description : description.replace(/: up to [0-9]+/, ':').replace(PIXELS, 'The pixels, WIDTHxHEIGHT.');

/** Matches the description of exact sizes. The rules of exact sizes are only in this text, not in the schema. */
const PIXELS = /^The pixels: WIDTHxHEIGHT(?:, (.*))?\.$/;

const idsOf = (takers: Taker[]): string =>
  takers.length > MAX_NAMED ? `${takers.length} models` : takers.map(({ model }) => model.id).join(', ');
const suffix = (limits: string): string => (limits === '' ? '' : ` (${limits})`);
const defaultOf = (schema: ParameterSchema): string =>
  (schema.default ?? '') === '' ? '' : `Default: ${schema.default}.`;

/** The bounds, values and default of one model, in words. */
function limitsOf({
  description,
  enum: values,
  minimum,
  maximum,
  maxLength,
  maxItems,
  default: byDefault,
}: ParameterSchema): string {
  return [
    PIXELS.exec(description)?.[1],
    values?.join(' '),
    minimum !== undefined && `${minimum} to ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems}`,
    byDefault !== undefined && byDefault !== '' && `default ${byDefault}`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** One argument for the parameters that only one model has; none if no model has such a parameter. */
export function extraArgument(models: readonly Model[]): Record<string, ArgumentSchema> {
  const has = models.some(({ parameters }) => Object.keys(parameters.properties).some(isOwn));
  const description = 'Parameters that only this model has, by their names, which begin with x_: see list_models.';
  return has ? { extra: { type: 'object', description } } : {};
}
