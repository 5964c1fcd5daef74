import { catalog } from '../../models/catalog.ts';
import type { MediaKind } from '../../models/definition/media-kind.ts';
import type { Model } from '../../models/definition/model.ts';
import type { ParameterSchema } from '../../models/definition/parameters.ts';

/** The JSON Schema of one argument of a tool. */
export type ArgumentSchema = Partial<Omit<ParameterSchema, 'items'>> & { items?: ArgumentSchema };

interface Taker {
  model: Model;
  schema: ParameterSchema;
}

/** The models that an agent can choose from, the default first. */
export const modelsOf = (kind: MediaKind): Model[] =>
  catalog.models.filter((model) => model.kind === kind && model.lifecycle.status !== 'retired');

/** Makes something of the models, and again once others have taken their place. */
export function perSet<Made>(make: () => Made): () => Made {
  let made: { of: readonly Model[]; value: Made } | undefined;
  return () => {
    if (made?.of !== catalog.models) made = { of: catalog.models, value: make() };
    return made.value;
  };
}

export function modelArgument(kind: MediaKind): ArgumentSchema {
  const models = modelsOf(kind);
  const about = models.map(({ id, description }) => `${id}: ${description}`);
  return {
    type: 'string',
    ...(models[0] && { enum: models.map(({ id }) => id), default: models[0].id }),
    description: ['The model that makes it.', ...about].join(' '),
  };
}

/**
 * The arguments for parameters of the models of a kind, if a model takes them: the union of what they take, because several
 * model APIs refuse tools whose schema has alternatives. The description names who takes what; the creation checks it.
 */
export const unionArguments = (kind: MediaKind, names: readonly string[]): Record<string, ArgumentSchema> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const argument = unionArgument(kind, name);
      return argument ? [[name, argument]] : [];
    }),
  );

function unionArgument(kind: MediaKind, name: string): ArgumentSchema | null {
  const models = modelsOf(kind);
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
    description: describe(first.schema.description, takers, takers.length === models.length),
    ...(first.schema.enum && { enum: [...new Set(schemas.flatMap((schema) => schema.enum ?? []))] }),
    ...bound('minimum', schemas, Math.min),
    ...bound('maximum', schemas, Math.max),
    ...bound('minLength', schemas, Math.min),
    ...bound('maxLength', schemas, Math.max),
    ...bound('maxItems', schemas, Math.max),
    ...(items && { items: { type: items.type, description: items.description } }),
  };
}

function bound(
  name: 'minimum' | 'maximum' | 'minLength' | 'maxLength' | 'maxItems',
  schemas: ParameterSchema[],
  choose: (...values: number[]) => number,
): ArgumentSchema {
  const values = schemas.map((schema) => schema[name]).filter((value) => value !== undefined);
  return values.length > 0 ? { [name]: choose(...values) } : {};
}

function describe(description: string, takers: Taker[], isTakenByAll: boolean): string {
  const byLimits = [...Map.groupBy(takers, ({ schema }) => limitsOf(schema)).entries()].map(
    ([limits, group]) => [limits, idsOf(group)] as const,
  );
  const isSame = byLimits.length === 1;
  const text = firstSentences(description, isSame);
  if (isSame && isTakenByAll) return [text, defaultOf(takers[0]!.schema)].filter(Boolean).join(' ');
  if (isSame) return `${text} Only ${idsOf(takers)}${suffix(byLimits[0]![0])}.`;
  return `${text} ${byLimits.map(([limits, ids]) => `${ids}: ${limits || 'any'}`).join('; ')}.`;
}

/** A number in the description of one model would be wrong for the others. */
const firstSentences = (description: string, isSame: boolean): string =>
  isSame ? description : description.replace(/: up to [0-9]+/, ':');

const idsOf = (takers: Taker[]): string => takers.map(({ model }) => model.id).join(', ');
const suffix = (limits: string): string => (limits === '' ? '' : ` (${limits})`);
const defaultOf = (schema: ParameterSchema): string =>
  schema.default === undefined ? '' : `Default: ${schema.default}.`;

/** What differs between models, in words. */
function limitsOf({
  enum: values,
  minimum,
  maximum,
  maxLength,
  maxItems,
  default: byDefault,
}: ParameterSchema): string {
  return [
    values?.join(' '),
    minimum !== undefined && `${minimum} to ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems}`,
    byDefault !== undefined && `default ${byDefault}`,
  ]
    .filter(Boolean)
    .join(', ');
}
