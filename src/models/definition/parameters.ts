export type Scalar = string | number | boolean;

/** The JSON Schema (2020-12) of one parameter. */
export interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly description: string;
  readonly const?: Scalar;
  readonly enum?: readonly Scalar[];
  readonly default?: Scalar;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  /** In code points, as JSON Schema defines it. */
  readonly maxLength?: number;
  readonly pattern?: string;
  /** `image` marks the fields that name an image. */
  readonly format?: 'image';
  readonly maxItems?: number;
  readonly items?: ParameterSchema;
  readonly maxProperties?: number;
  readonly propertyNames?: ParameterSchema;
  readonly additionalProperties?: ParameterSchema;
}

export interface ParameterCondition {
  /** `false` means that the parameter is absent. */
  readonly properties?: Readonly<Record<string, false | { const?: Scalar; enum?: readonly Scalar[] }>>;
  readonly required?: readonly string[];
}

/** What a rule demands: `required` parameters, and `properties` whose values `not` forbids or `const` fixes. */
interface ParameterDemand {
  readonly properties?: Readonly<Record<string, { not?: object; const?: Scalar; description?: string }>>;
  readonly required?: readonly string[];
}

/** A rule between parameters: `then` applies when the condition in `if` holds, `else` when it does not. */
export interface ParameterRule {
  readonly if: ParameterCondition;
  readonly then?: ParameterDemand;
  readonly else?: ParameterDemand;
}

/** The JSON Schema (2020-12) of a creation request. */
export interface ParametersSchema extends Partial<ParameterRule> {
  readonly $schema: 'https://json-schema.org/draft/2020-12/schema';
  readonly title: string;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ParameterSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
  /** By parameter: the other parameters that a request with it must have. */
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  /** The rules after the first one, which is in `if`, `then` and `else`. */
  readonly allOf?: readonly ParameterRule[];
}

/** The most characters of an http(s) URL. */
export const MAX_URL_LENGTH = 2048;

/**
 * The schema of one model's requests. Adds the fields that all models share.
 * @param needs by parameter: the other parameters that a request with it must have
 */
export function parametersOf(
  id: string,
  parameters: Record<string, ParameterSchema>,
  rules: readonly ParameterRule[],
  needs: Readonly<Record<string, readonly string[]>>,
): ParametersSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: id,
    type: 'object',
    properties: {
      model: { type: 'string', const: id, description: 'The model that makes the content.' },
      ...parameters,
      ...SHARED,
    },
    required: ['model', 'prompt'],
    additionalProperties: false,
    ...(Object.keys(needs).length > 0 && { dependentRequired: needs }),
    ...rules[0],
    ...(rules.length > 1 && { allOf: rules.slice(1) }),
  };
}

/** The bounds of metadata: pairs, and characters of a key and of a value. */
export const METADATA = { pairs: 16, key: 64, value: 512 } as const;

const metadata: ParameterSchema = {
  type: 'object',
  description: `Up to ${METADATA.pairs} key-value pairs of text, stored with the task and returned unchanged.`,
  maxProperties: METADATA.pairs,
  propertyNames: { type: 'string', description: 'A key.', minLength: 1, maxLength: METADATA.key },
  additionalProperties: { type: 'string', description: 'A value.', maxLength: METADATA.value },
};

const SHARED: Record<string, ParameterSchema> = {
  metadata,
  priority: {
    type: 'string',
    enum: ['normal', 'low'],
    default: 'normal',
    description: 'A task of low priority waits behind those of normal priority. It may wait a day for its start.',
  },
  parent_task_id: { type: 'string', description: 'Id of your task that this one is made from.' },
};

/**
 * Whether the field is a parameter of the model itself. Providers get the parameters of the model, and the task shows
 * them as `input`.
 */
export const isModelParameter = (name: string): boolean => name !== 'model' && !Object.hasOwn(SHARED, name);

/** The values of an enum parameter as strings; none for any other parameter. */
export const valuesOf = ({ properties }: ParametersSchema, name: string): string[] =>
  (properties[name]?.enum ?? []).map(String);

type Default = [name: string, byDefault: Scalar | undefined];

/** A cache, because the creation of every task reads these parameters. */
const modelParameters = new WeakMap<ParametersSchema, readonly Default[]>();

/** The parameters of the model itself, in the order of the schema, with their defaults. */
export function modelParametersOf(schema: ParametersSchema): readonly Default[] {
  const known = modelParameters.get(schema);
  if (known) return known;
  const own = Object.entries(schema.properties).filter(([name]) => isModelParameter(name));
  const parameters = own.map(([name, parameter]): Default => [name, parameter.default]);
  modelParameters.set(schema, parameters);
  return parameters;
}

/** Whether the parameter is allowed beside these values, and no rule fixes its value. Only then its default applies. */
export function isAllowed(name: string, schema: ParametersSchema, values: Readonly<Record<string, unknown>>): boolean {
  const needs = schema.dependentRequired?.[name] ?? [];
  if (needs.some((other) => values[other] === undefined)) return false;
  return rulesOf(schema).every((rule) => {
    const branch = holds(rule.if, values) ? rule.then : rule.else;
    const { not, const: only } = branch?.properties?.[name] ?? {};
    return !isNever(not) && only === undefined;
  });
}

/** `not: {}` forbids every value; any other `not` forbids only some. */
const isNever = (not: object | undefined): boolean => not !== undefined && Object.keys(not).length === 0;

/** A cache, because the creation of every task reads these rules. */
const rules = new WeakMap<ParametersSchema, readonly ParameterRule[]>();

function rulesOf(schema: ParametersSchema): readonly ParameterRule[] {
  const known = rules.get(schema);
  if (known) return known;
  const first = schema.if ? [schema as ParameterRule] : [];
  const all = [...first, ...(schema.allOf ?? [])];
  rules.set(schema, all);
  return all;
}

/** Whether the condition of a rule is met, as a JSON Schema validator decides it. */
function holds(
  { properties = {}, required = [] }: ParameterCondition,
  values: Readonly<Record<string, unknown>>,
): boolean {
  return (
    required.every((name) => values[name] !== undefined) &&
    Object.entries(properties).every(([name, wanted]) => {
      const value = values[name];
      if (value === undefined) return true;
      if (wanted === false) return false;
      const { const: only, enum: some = only === undefined ? null : [only] } = wanted;
      return some === null || some.includes(value as Scalar);
    })
  );
}

/** The part of a model that the functions below need. */
interface Parameterised {
  parameters: ParametersSchema;
}

/**
 * An image that a request names. `param` is the field, for example `reference_images[2]`. `url` is a URL or the id of a
 * file.
 */
export interface ImageUrl {
  param: string;
  url: string;
}

/**
 * The fields that name one image or a list of images, by schema. A cache, because every creation of a task reads them.
 */
const imageFields = new WeakMap<ParametersSchema, readonly string[]>();

function imageFieldsOf({ parameters }: Parameterised): readonly string[] {
  const known = imageFields.get(parameters);
  if (known) return known;
  const marked = Object.entries(parameters.properties).filter(
    ([, { format, items }]) => format === 'image' || items?.format === 'image',
  );
  const fields = marked.map(([field]) => field);
  imageFields.set(parameters, fields);
  return fields;
}

/** The image URLs of a request, in the order of the schema, which marks their fields with `format: image`. */
export function imageUrlsOf(model: Parameterised, input: object): ImageUrl[] {
  const found: ImageUrl[] = [];
  for (const param of imageFieldsOf(model)) {
    const value = (input as Record<string, string | string[] | undefined>)[param];
    if (typeof value === 'string') found.push({ param, url: value });
    else value?.forEach((url, index) => found.push({ param: `${param}[${index}]`, url }));
  }
  return found;
}

/** A copy of the input with other image URLs. @param replacement returns null to keep a URL */
export function replaceImageUrls<Input extends object>(
  model: Parameterised,
  input: Input,
  replacement: (image: ImageUrl) => string | null,
): Input {
  const replaced = { ...input } as Record<string, unknown>;
  for (const image of imageUrlsOf(model, input)) {
    const other = replacement(image);
    if (other === null) continue;
    const [, list, index] = /^(\w+)\[([0-9]+)\]$/.exec(image.param) ?? [];
    if (list === undefined) replaced[image.param] = other;
    else replaced[list] = (replaced[list] as string[]).with(Number(index), other);
  }
  return replaced as Input;
}
